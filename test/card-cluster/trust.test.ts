/** The trust bundle on a real API server: wherever it is kept, whenever it comes, as it rotates; audit mode; and what a restart keeps. */

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { kinds } from '../../runtime/api/kinds.ts';
import type { Kind } from '../../runtime/engine/types.ts';
import { textOf } from '../support/audit-log.ts';
import { eventually, metric } from '../support/engine-bed.ts';
import { type Authority, createAuthority, signedCard } from '../support/svid.ts';
import { answers, serves } from './agents.ts';
import { bundlePlace, type CardBed, startCardBed } from './bed.ts';
import { cardOf } from './objects.ts';
import { inNamespace, removeBundle, type Space, writeBundle } from './space.ts';

let bed: CardBed;
let root: Authority;
let next: Authority;
before(async () => {
  bed = await startCardBed('cards-trust');
  root = await createAuthority('root');
  next = await createAuthority('next');
});
after(() => bed.stop());

const bundles = kinds.configMap as Kind;
const signed = async (ns: Space, by = root, name = 'weather') =>
  signedCard(cardOf(name), await by.issue(`spiffe://cluster.local/ns/${ns.namespace}/sa/default`));
const isLabelled = (ns: Space, name: string, wanted: boolean) =>
  eventually(async () => {
    const value = wanted ? 'true' : undefined;
    assert.deepEqual(await ns.labels(name), [value, value]);
  });
const messageOf = async (ns: Space, type = 'Verified') =>
  (await ns.card('weather')).status?.conditions?.find((one) => one.type === type)?.message ?? '';

test('SG-09: an unlabelled ConfigMap elsewhere, made after the start, its key renamed, emptied, broken, deleted', async () => {
  const operator = await bed.startOperator();
  const ns = await inNamespace(bed, 'bundle');
  await ns.addAgent('weather', { body: await signed(ns), spec: { syncPeriod: '1h' } });
  await ns.says('weather', 'Synced', 'True/CardSynced');
  await ns.says('weather', 'Verified', 'False/TrustBundleUnavailable');
  assert.match(await messageOf(ns), /ConfigMap zero-trust\/spire-bundle does not exist/);
  await writeBundle(bed, { 'bundle.crt': root.pem });
  await ns.says('weather', 'Verified', 'True/SignatureVerified');
  await isLabelled(ns, 'weather', true);
  await writeBundle(bed, { 'trust.pem': root.pem });
  await ns.says('weather', 'Verified', 'True/SignatureVerified');
  const closing = [
    [{ one: root.pem, two: root.pem }, /none of its keys/],
    [{}, /it holds nothing yet/],
    [{ 'bundle.crt': '' }, /key bundle.crt, holds no certificate to trust: it is empty/],
    [{ 'bundle.crt': 'no bundle at all' }, /holds no certificate to trust/],
  ] as const;
  for (const [data, message] of closing) {
    await writeBundle(bed, { 'bundle.crt': root.pem });
    await isLabelled(ns, 'weather', true);
    await writeBundle(bed, data);
    await ns.says('weather', 'Verified', 'False/TrustBundleUnavailable');
    await eventually(async () => assert.match(await messageOf(ns), message));
    await isLabelled(ns, 'weather', false);
  }
  await writeBundle(bed, { 'bundle.crt': root.pem });
  await isLabelled(ns, 'weather', true);
  await removeBundle(bed);
  await ns.says('weather', 'Verified', 'False/TrustBundleUnavailable');
  await isLabelled(ns, 'weather', false);
  assert.equal(ns.asked('weather'), 1, 'everything was judged from the card that was fetched once');
  await operator.stop();
});

test('SG-10: rotation: two roots, a new leaf, the old root removed; a broken block hides nothing', async () => {
  await writeBundle(bed, { 'bundle.crt': root.pem });
  const operator = await bed.startOperator();
  const ns = await inNamespace(bed, 'rotation');
  await ns.addAgent('weather', { body: await signed(ns) });
  await ns.addAgent('slow', { body: await signed(ns, root, 'slow'), spec: { syncPeriod: '1h' } });
  await isLabelled(ns, 'weather', true);
  const broken = '-----BEGIN CERTIFICATE-----\nbm8gY2VydGlmaWNhdGU=\n-----END CERTIFICATE-----\n';
  const hash = async () => (await ns.card('weather')).status?.trustBundleHash;
  await eventually(async () => assert.notEqual(await hash(), undefined));
  const before = await hash();
  await writeBundle(bed, { 'bundle.crt': root.pem + broken + next.pem });
  await eventually(async () => assert.notEqual(await hash(), before));
  assert.equal(await ns.condition('weather', 'Verified'), 'True/SignatureVerified');
  assert.equal(await metric(operator.bed, 'rossoctl_x5c_trust_bundle_unusable_parts'), 1);
  ns.behave('weather', serves(await signed(ns, next)));
  await eventually(() => ns.asked('weather') >= 3);
  await writeBundle(bed, { 'bundle.crt': next.pem });
  await ns.says('slow', 'Verified', 'False/UntrustedChain');
  await isLabelled(ns, 'slow', false);
  await isLabelled(ns, 'weather', true);
  await operator.stop();
});

test('audit mode tells the truth, sets no label, and takes away what was set before', async () => {
  await writeBundle(bed, { 'bundle.crt': root.pem });
  const ns = await inNamespace(bed, 'audit');
  const enforcing = await bed.startOperator();
  await ns.addAgent('weather', { body: await signed(ns) });
  await isLabelled(ns, 'weather', true);
  await enforcing.stop();
  const operator = await bed.startOperator({ verification: { isAudit: true } });
  await isLabelled(ns, 'weather', false);
  await eventually(async () => assert.match(await messageOf(ns), /^Audit mode: Signed by /));
  ns.behave('weather', serves(JSON.stringify(cardOf('weather'))));
  await ns.says('weather', 'Verified', 'False/NoSignature');
  assert.match(await messageOf(ns), /^Audit mode: /);
  assert.equal(await ns.condition('weather', 'Ready'), 'True/CardReady');
  await operator.stop();
});

test('verification that is switched off takes away labels, verdicts and the conditions about them', async () => {
  await writeBundle(bed, { 'bundle.crt': root.pem });
  const ns = await inNamespace(bed, 'off');
  const enforcing = await bed.startOperator();
  await ns.addAgent('weather', { body: await signed(ns) });
  await isLabelled(ns, 'weather', true);
  await enforcing.stop();
  const operator = await bed.startOperator({ verification: { isRequired: false } });
  await isLabelled(ns, 'weather', false);
  await ns.says('weather', 'Verified', 'absent');
  const { status } = await ns.card('weather');
  assert.equal(status?.validSignature, undefined);
  assert.equal(status?.signatureSpiffeId, undefined);
  await operator.stop();
});

test('where the install’s scope is workload, a copy of another agent’s card ends and gets no verdict, unless the card says so', async () => {
  await writeBundle(bed, { 'bundle.crt': root.pem });
  const ns = await inNamespace(bed, 'copies');
  const loose = await bed.startOperator();
  const copy = await signed(ns);
  await ns.addAgent('weather', { body: copy });
  await ns.addAgent('thief', { body: copy, spec: { syncPeriod: '1h' } });
  await isLabelled(ns, 'thief', true);
  await loose.stop();
  await ns.patch(kinds.deployment as Kind, 'thief', { spec: { template: { spec: { serviceAccountName: 'thief' } } } });
  const operator = await bed.startOperator({ verification: { scope: 'workload' } });
  await ns.says('thief', 'Verified', 'False/NotBound');
  assert.equal(await ns.condition('thief', 'Bound'), 'False/WorkloadMismatch');
  await isLabelled(ns, 'thief', false);
  await ns.says('weather', 'Bound', 'True/Bound');
  await isLabelled(ns, 'weather', true);
  await ns.patch(kinds.agentCard as Kind, 'thief', { spec: { identityBinding: { scope: 'trustDomain' } } });
  await ns.says('thief', 'Verified', 'True/SignatureVerified');
  await operator.stop();
});

test('a restart of the operator writes nothing, of a verified card nor of one that is not, until agents have been asked and after', async () => {
  await writeBundle(bed, { 'bundle.crt': root.pem });
  const ns = await inNamespace(bed, 'restart');
  const first = await bed.startOperator();
  await ns.addAgent('weather', { body: await signed(ns), spec: { syncPeriod: '5s' } });
  await ns.addAgent('news', { body: JSON.stringify(cardOf('news')), spec: { syncPeriod: '5s' } });
  await isLabelled(ns, 'weather', true);
  await ns.says('news', 'Verified', 'False/NoSignature');
  await first.settled();
  await first.stop();
  const asked = { weather: ns.asked('weather'), news: ns.asked('news') };
  const operator = await bed.startOperator();
  await operator.pass({ namespace: ns.namespace, name: 'weather' });
  await isLabelled(ns, 'weather', true);
  await eventually(() => ns.asked('weather') >= asked.weather + 2 && ns.asked('news') >= asked.news + 2);
  await operator.settled();
  assert.deepEqual(operator.requests(ns.namespace).map(textOf), []);
  await operator.stop();
});

test('after a restart a verdict does not stand whose authority is gone, and falls when the agent stays silent', async () => {
  await writeBundle(bed, { 'bundle.crt': root.pem });
  const ns = await inNamespace(bed, 'doubt');
  const first = await bed.startOperator();
  await ns.addAgent('weather', { body: await signed(ns) });
  await isLabelled(ns, 'weather', true);
  await first.stop();
  ns.behave('weather', answers(503));
  const second = await bed.startOperator();
  await ns.says('weather', 'Synced', 'False/HTTPStatus');
  assert.equal(await ns.condition('weather', 'Verified'), 'True/SignatureVerified');
  await ns.says('weather', 'Verified', 'False/ContactLost');
  await isLabelled(ns, 'weather', false);
  ns.behave('weather', serves(await signed(ns)));
  await isLabelled(ns, 'weather', true);
  await second.stop();
  ns.behave('weather', answers(503));
  await writeBundle(bed, { 'bundle.crt': next.pem });
  const third = await bed.startOperator();
  await ns.says('weather', 'Verified', 'False/NotFetched');
  await isLabelled(ns, 'weather', false);
  await third.stop();
});

test('an operator that may not read the bundle runs, verifies nothing and says why', async () => {
  await writeBundle(bed, { 'bundle.crt': root.pem });
  const ns = await inNamespace(bed, 'forbidden');
  const operator = await bed.startOperator({ namespaces: [ns.namespace] });
  await ns.addAgent('weather', { body: await signed(ns) });
  await ns.says('weather', 'Synced', 'True/CardSynced');
  await ns.says('weather', 'Verified', 'False/TrustBundleUnavailable');
  assert.match(await messageOf(ns), /ConfigMap zero-trust\/spire-bundle cannot be read: .*forbidden/);
  await operator.stop();
});

test('a namespace that does not exist is a bundle that does not exist', async () => {
  const ns = await inNamespace(bed, 'nowhere');
  const operator = await bed.startOperator({
    verification: { bundle: { namespace: 'never-made', name: bundlePlace.name, key: '' } },
  });
  await ns.addAgent('weather', { body: await signed(ns) });
  await ns.says('weather', 'Verified', 'False/TrustBundleUnavailable');
  assert.match(await messageOf(ns), /ConfigMap never-made\/spire-bundle does not exist/);
  assert.equal((await bed.client.list(bundles, { namespace: 'never-made' })).items.length, 0);
  await operator.stop();
});
