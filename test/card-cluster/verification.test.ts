/** Verdicts on a real API server: label on pods and workload, bindings, audit mode, what ends a verdict, and what a restart keeps. */

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { kinds } from '../../runtime/api/kinds.ts';
import type { Kind } from '../../runtime/engine/types.ts';
import { textOf } from '../support/audit-log.ts';
import { eventually } from '../support/engine-bed.ts';
import { type Authority, createAuthority, signedCard } from '../support/svid.ts';
import { answers, serves } from './agents.ts';
import { type CardBed, type Operator, startCardBed } from './bed.ts';
import { movableClock } from './clock.ts';
import { cardOf } from './objects.ts';
import { inNamespace, type Space, writeBundle } from './space.ts';

let bed: CardBed;
let operator: Operator;
let root: Authority;
const clock = movableClock();
before(async () => {
  bed = await startCardBed('cards-verification');
  root = await createAuthority('root');
  await writeBundle(bed, { 'bundle.crt': root.pem });
  // An agent that is asked every two hours must not be missed because the machine is busy.
  operator = await bed.startOperator({ clock, timeoutMs: 60_000 });
});
after(() => bed.stop());

const pods = kinds.pod as Kind;
const cards = kinds.agentCard as Kind;
const id = (ns: Space, account = 'default') => `spiffe://cluster.local/ns/${ns.namespace}/sa/${account}`;
const signed = async (ns: Space, name = 'weather', spiffeId = id(ns), more: object = {}) =>
  signedCard(cardOf(name, more), await root.issue(spiffeId));
const isLabelled = (ns: Space, name: string, wanted: boolean, on?: readonly string[]) =>
  eventually(async () => {
    const value = wanted ? 'true' : undefined;
    const found = await ns.labels(name, on);
    assert.deepEqual(
      found,
      found.map(() => value),
    );
  });

test('a signed card is verified: label on workload and pods, never on the template, the identity in status', async () => {
  const ns = await inNamespace(bed, 'verified');
  await ns.addAgent('weather', { body: await signed(ns) });
  await ns.says('weather', 'Verified', 'True/SignatureVerified');
  await isLabelled(ns, 'weather', true);
  const { status } = await ns.card('weather');
  assert.equal(status?.validSignature, true);
  assert.equal(status?.signatureSpiffeId, id(ns));
  assert.equal(status?.signatureAlgorithm, 'ES256');
  assert.match(status?.certificateExpires ?? '', /Z$/);
  assert.match(status?.trustBundleHash ?? '', /^[0-9a-f]{64}$/);
  const { spec } = await bed.client.get(kinds.deployment, { namespace: ns.namespace, name: 'weather' });
  assert.equal(spec.template.metadata?.labels?.['agent.rossoctl.dev/signature-verified'], undefined);
  await operator.settled();
  assert.deepEqual(await ns.events('weather'), ['CardSynced', 'SignatureVerified']);
});

test('a new pod of a verified agent gets the label without another fetch, and one that is gone fails nothing', async () => {
  const ns = await inNamespace(bed, 'newpod');
  await ns.addAgent('weather', { body: await signed(ns), spec: { syncPeriod: '1h' } });
  await isLabelled(ns, 'weather', true);
  const asked = ns.asked('weather');
  await ns.addPod('weather', 'weather-2', false);
  await isLabelled(ns, 'weather', true, ['weather-1', 'weather-2']);
  assert.equal(ns.asked('weather'), asked);
  for (const name of ['weather-3', 'weather-4', 'weather-5']) {
    await ns.addPod('weather', name, false);
    await ns.remove(pods, name);
  }
  await ns.addPod('weather', 'weather-6', false);
  await isLabelled(ns, 'weather', true, ['weather-1', 'weather-2', 'weather-6']);
});

test('a card that is changed to an unsigned one, or after it was signed, loses the label', async () => {
  const ns = await inNamespace(bed, 'changed');
  const good = await signed(ns);
  await ns.addAgent('weather', { body: good });
  await isLabelled(ns, 'weather', true);
  ns.behave('weather', serves(JSON.stringify(cardOf('weather'))));
  await ns.says('weather', 'Verified', 'False/NoSignature');
  await isLabelled(ns, 'weather', false);
  assert.equal((await ns.card('weather')).status?.validSignature, false);
  ns.behave('weather', serves(good));
  await isLabelled(ns, 'weather', true);
  ns.behave('weather', serves(good.replace('The agent weather', 'The agent Weather')));
  await ns.says('weather', 'Verified', 'False/PayloadMismatch');
  await isLabelled(ns, 'weather', false);
});

test('SG-03: what was served and not signed is named, and stored nowhere', async () => {
  const ns = await inNamespace(bed, 'unsigned');
  const card = JSON.parse(await signed(ns)) as object;
  await ns.addAgent('weather', { body: JSON.stringify({ ...card, securityRequirements: [] }) });
  await ns.says('weather', 'Synced', 'True/CardSynced');
  const { status } = await ns.card('weather');
  if (status?.validSignature === true) assert.deepEqual(status.unsignedMembers, ['/securityRequirements']);
  assert.equal(status?.card?.['securityRequirements'] === undefined, status?.validSignature);
});

test('binding: scope workload wants the workload’s own ServiceAccount, and strict false only reports', async () => {
  const ns = await inNamespace(bed, 'binding');
  await ns.addAgent('weather', { body: await signed(ns), spec: { identityBinding: { scope: 'workload' } } });
  await ns.says('weather', 'Bound', 'True/Bound');
  await isLabelled(ns, 'weather', true);
  ns.behave('weather', serves(await signed(ns, 'weather', id(ns, 'other'))));
  await ns.says('weather', 'Bound', 'False/WorkloadMismatch');
  assert.equal(await ns.condition('weather', 'Verified'), 'False/NotBound');
  await isLabelled(ns, 'weather', false);
  await ns.patch(cards, 'weather', { spec: { identityBinding: { strict: false } } });
  await ns.says('weather', 'Verified', 'True/SignatureVerified');
  assert.equal(await ns.condition('weather', 'Bound'), 'False/WorkloadMismatch');
  await isLabelled(ns, 'weather', true);
  await ns.patch(cards, 'weather', { spec: { identityBinding: null } });
  await ns.says('weather', 'Bound', 'absent');
  await operator.settled();
  assert.ok((await ns.events('weather')).includes('BindingFailed'));
});

test('another trust domain is not bound, whoever’s authority it has', async () => {
  const ns = await inNamespace(bed, 'domain');
  await ns.addAgent('weather', { body: await signed(ns, 'weather', 'spiffe://other.test/ns/a/sa/b') });
  await ns.says('weather', 'Verified', 'False/NotBound');
  await ns.patch(cards, 'weather', { spec: { identityBinding: { trustDomain: 'other.test' } } });
  await ns.says('weather', 'Verified', 'True/SignatureVerified');
});

test('deletion of a card removes the labels, and so does another target', async () => {
  const ns = await inNamespace(bed, 'deleted');
  await ns.addAgent('weather', { body: await signed(ns) });
  await ns.addAgent('second', { body: await signed(ns, 'second') });
  await isLabelled(ns, 'weather', true);
  await isLabelled(ns, 'second', true);
  await ns.remove(cards, 'second');
  await ns.isGone(cards, 'second');
  assert.deepEqual(await ns.labels('second'), [undefined, undefined]);
  await ns.patch(cards, 'weather', { spec: { targetRef: { name: 'second' } } });
  await isLabelled(ns, 'weather', false);
  await isLabelled(ns, 'second', true);
  await eventually(async () => assert.equal((await ns.card('weather')).status?.agent?.name, 'second'));
});

test('a pod that somebody took out of the enrolled ones loses the label with the others', async () => {
  const ns = await inNamespace(bed, 'strays');
  await ns.addAgent('weather', { body: await signed(ns) });
  await isLabelled(ns, 'weather', true);
  await ns.addPod('weather', 'weather-2');
  await isLabelled(ns, 'weather', true, ['weather-2']);
  await ns.patch(pods, 'weather-2', { metadata: { labels: { 'rossoctl.io/type': null } } });
  ns.behave('weather', serves(JSON.stringify(cardOf('weather'))));
  await isLabelled(ns, 'weather', false, ['weather-1', 'weather-2']);
});

test('a pod that only names a verified workload as its owner never gets the label', async () => {
  const ns = await inNamespace(bed, 'impostors');
  await ns.addAgent('weather', { body: await signed(ns), spec: { syncPeriod: '1h' } });
  await isLabelled(ns, 'weather', true);
  await ns.addImpostor('weather', 'of-deployment', 'Deployment');
  await ns.addImpostor('weather', 'of-replicaset', 'ReplicaSet');
  await ns.addPod('weather', 'weather-2', false);
  await isLabelled(ns, 'weather', true, ['weather-1', 'weather-2']);
  assert.deepEqual((await ns.labels('weather', ['of-deployment', 'of-replicaset'])).slice(1), [undefined, undefined]);
});

test('a label for which no card answers is taken away; only one that the operator has not set is worth an event', async () => {
  const ns = await inNamespace(bed, 'unvouched');
  await ns.addWorkload('forger');
  await ns.addPod('forger');
  await ns.patch(pods, 'forger-1', { metadata: { labels: { 'agent.rossoctl.dev/signature-verified': 'true' } } });
  await isLabelled(ns, 'forger', false);
  await ns.addAgent('weather', { body: await signed(ns) });
  await isLabelled(ns, 'weather', true);
  const orphan = { metadata: { ownerReferences: null } };
  await ns.patch(kinds.replicaSet as Kind, 'weather-7d9f8c6b5', orphan);
  await eventually(async () => assert.deepEqual(await ns.labels('weather'), ['true', undefined]));
  await operator.settled();
  assert.deepEqual(await ns.events('forger-1'), ['UnvouchedLabelRemoved']);
  assert.deepEqual(await ns.events('weather-1'), []);
});

test('a card that moves on, and a verified workload that is deleted, take their labels along without a word', async () => {
  const ns = await inNamespace(bed, 'orderly');
  for (const name of ['weather', 'news']) {
    await ns.addAgent(name, { body: await signed(ns) });
    await isLabelled(ns, name, true);
  }
  const targetRef = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'other' };
  await ns.patch(kinds.agentCard as Kind, 'weather', { spec: { targetRef } });
  await isLabelled(ns, 'weather', false);
  await ns.remove(kinds.deployment as Kind, 'news');
  await ns.remove(kinds.replicaSet as Kind, 'news-7d9f8c6b5');
  await eventually(async () => {
    const { metadata } = await bed.client.get(pods, { namespace: ns.namespace, name: 'news-1' });
    assert.equal(metadata.labels?.['agent.rossoctl.dev/signature-verified'], undefined);
  });
  await operator.settled();
  assert.deepEqual([await ns.events('weather-1'), await ns.events('news-1')], [[], []]);
});

test('contact that is lost ends the verdict, after the last card has stood for three periods, and only an answer brings it back', async () => {
  const ns = await inNamespace(bed, 'lost');
  await ns.addAgent('weather', { body: await signed(ns) });
  await isLabelled(ns, 'weather', true);
  ns.behave('weather', answers(503));
  await ns.says('weather', 'Synced', 'False/HTTPStatus');
  assert.equal(await ns.condition('weather', 'Verified'), 'True/SignatureVerified');
  await ns.says('weather', 'Verified', 'False/ContactLost');
  await isLabelled(ns, 'weather', false);
  await ns.patch(cards, 'weather', { spec: { syncPeriod: '60s' } });
  await eventually(async () => assert.equal((await ns.card('weather')).status?.observedGeneration, 2));
  assert.equal(await ns.condition('weather', 'Verified'), 'False/ContactLost');
  await ns.patch(cards, 'weather', { spec: { syncPeriod: '5s' } });
  ns.behave('weather', serves(await signed(ns)));
  await isLabelled(ns, 'weather', true);
});

test('an agent that is out of reach for too long loses its verdict, too', async () => {
  const ns = await inNamespace(bed, 'gone');
  await ns.addAgent('weather', { body: await signed(ns) });
  await isLabelled(ns, 'weather', true);
  await ns.remove(pods, 'weather-1');
  await ns.says('weather', 'Synced', 'False/WorkloadNotReady');
  assert.equal(await ns.condition('weather', 'Verified'), 'True/SignatureVerified');
  await ns.says('weather', 'Verified', 'False/ContactLost');
  await isLabelled(ns, 'weather', false, []);
});

test('SG-13: a verdict ends with the certificate, and comes back with a new one', async () => {
  const ns = await inNamespace(bed, 'ends');
  const notAfter = new Date(clock.now().getTime() + 120_000);
  const svid = await root.issue(id(ns), { notAfter });
  await ns.addAgent('weather', { body: signedCard(cardOf('weather'), svid), spec: { syncPeriod: '2h' } });
  await ns.says('weather', 'Verified', 'True/SignatureVerified');
  await isLabelled(ns, 'weather', true);
  assert.equal(
    Date.parse((await ns.card('weather')).status?.certificateExpires ?? ''),
    Math.floor(+notAfter / 1000) * 1000,
  );
  clock.forward(60_000);
  await operator.pass({ namespace: ns.namespace, name: 'weather' });
  await ns.says('weather', 'Verified', 'True/SignatureVerified');
  clock.forward(60_000);
  await ns.says('weather', 'Verified', 'False/Expired');
  await isLabelled(ns, 'weather', false);
  await operator.settled();
  assert.deepEqual(await ns.events('weather'), ['CardSynced', 'Expired', 'SignatureVerified']);
  const before = operator.requests(ns.namespace);
  for (const minutes of [3, 60]) {
    clock.forward(minutes * 60_000);
    await operator.pass({ namespace: ns.namespace, name: 'weather' });
    assert.equal(await ns.condition('weather', 'Verified'), 'False/Expired');
  }
  await operator.settled();
  assert.deepEqual(
    operator.requests(ns.namespace).map(textOf),
    before.map(textOf),
    'nothing is written while it stays so',
  );
  const renewed = await root.issue(id(ns), { notAfter: new Date(clock.now().getTime() + 86_400_000) });
  ns.behave('weather', serves(signedCard(cardOf('weather'), renewed)));
  clock.forward(2 * 3_600_000 * 1.1);
  await ns.says('weather', 'Verified', 'True/SignatureVerified', 90_000);
});
