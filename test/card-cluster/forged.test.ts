/** What somebody with rights on `agentcards/status` writes there, on a real API server: the operator's own verdict is put back at once. */

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { AgentCard, AgentCardStatus } from '../../runtime/api/agent-card.ts';
import type { Condition } from '../../runtime/api/conditions.ts';
import { kinds } from '../../runtime/api/kinds.ts';
import { cardHash } from '../../runtime/signature/verify.ts';
import { judgedPart, createVerdicts } from '../../runtime/workload/verdicts.ts';
import { eventually } from '../support/engine-bed.ts';
import { type Authority, createAuthority, signedCard } from '../support/svid.ts';
import { answers } from './agents.ts';
import { type CardBed, type Operator, startCardBed } from './bed.ts';
import { cardOf } from './objects.ts';
import { inNamespace, type Space, writeBundle } from './space.ts';

let bed: CardBed;
let root: Authority;
let operator: Operator;
const verdicts = createVerdicts();
before(async () => {
  bed = await startCardBed('cards-forged');
  root = await createAuthority('root');
  await writeBundle(bed, { 'bundle.crt': root.pem });
  operator = await bed.startOperator({ verdicts });
});
after(() => bed.stop());

/** Much less than the hour after which an agent is asked again. */
const soonMs = 10_000;
const hourly = { syncPeriod: '1h' };

const forgery = {
  validSignature: true,
  signatureSpiffeId: 'spiffe://cluster.local/ns/x/sa/x',
  certificateExpires: '2037-01-01T00:00:00Z',
};

async function forge(ns: Space, name: string, [status, reason]: readonly [Condition['status'], string], more: object) {
  const { metadata, status: old } = await ns.card(name);
  const forged = {
    type: 'Verified',
    status,
    reason,
    message: 'Forged.',
    lastTransitionTime: '2026-01-01T00:00:00Z',
    observedGeneration: metadata.generation,
  };
  const others = (old?.conditions ?? []).filter(({ type }) => type !== 'Verified');
  return bed.client.mergePatch(
    { kind: kinds.agentCard, namespace: ns.namespace, name },
    { status: { ...more, conditions: [...others, forged] } },
    { subresource: 'status' },
  );
}

const apartFromTimes = ({ conditions = [], ...rest }: AgentCardStatus) => ({
  ...rest,
  lastSyncTime: undefined,
  conditions: conditions.map((condition) => ({ ...condition, lastTransitionTime: undefined })),
});

/** The status is put back as it was, whole. */
async function isPutBack(ns: Space, name: string, before: AgentCardStatus | undefined): Promise<void> {
  assert.ok(before !== undefined);
  await eventually(async () => {
    const { status = {} } = await ns.card(name);
    assert.deepEqual(apartFromTimes(status), apartFromTimes(before));
  }, soonMs);
}

test('unsigned, and patched to be verified: put back, with what the operator says nothing of', async () => {
  const ns = await inNamespace(bed, 'opened');
  await ns.addAgent('weather', { spec: hourly });
  await ns.says('weather', 'Verified', 'False/NoSignature');
  const { status } = await ns.card('weather');
  await forge(ns, 'weather', ['True', 'SignatureVerified'], forgery);
  await isPutBack(ns, 'weather', status);
  assert.deepEqual(await ns.labels('weather'), [undefined, undefined]);
  const asked = ns.asked('weather');
  await forge(ns, 'weather', ['False', 'NoSignature'], { ...forgery, agent: { url: 'http://elsewhere.example/' } });
  await isPutBack(ns, 'weather', status);
  assert.equal(ns.asked('weather'), asked);
});

test('never fetched, and patched to be verified', async () => {
  const ns = await inNamespace(bed, 'unfetched');
  await ns.addWorkload('weather');
  await ns.addCard('weather');
  await ns.says('weather', 'Verified', 'False/NotFetched');
  const { status } = await ns.card('weather');
  await forge(ns, 'weather', ['True', 'SignatureVerified'], forgery);
  await isPutBack(ns, 'weather', status);
  assert.equal(verdicts.of(await ns.card('weather'))?.isVerified, false);
});

test('verified, and patched to have expired', async () => {
  const ns = await inNamespace(bed, 'closed');
  const body = signedCard(cardOf('weather'), await root.issue(`spiffe://cluster.local/ns/${ns.namespace}/sa/default`));
  await ns.addAgent('weather', { body, spec: hourly });
  await ns.says('weather', 'Verified', 'True/SignatureVerified');
  const card = await ns.card('weather');
  await forge(ns, 'weather', ['False', 'Expired'], { validSignature: false, certificateExpires: null });
  await isPutBack(ns, 'weather', card.status);
  assert.deepEqual(await ns.labels('weather'), ['true', 'true']);
  const { expires, ...verdict } = verdicts.of(card) ?? {};
  assert.deepEqual(verdict, { isVerified: true, reason: 'SignatureVerified', about: judgedPart(card) });
  assert.match(expires ?? '', /Z$/);
});

const write = (ns: Space, name: string, status: object) =>
  bed.client.mergePatch(
    { kind: kinds.agentCard, namespace: ns.namespace, name },
    { status },
    { subresource: 'status' },
  );

const century = '2137-01-01T00:00:00Z';

test('verified, and patched inside its card, and with times that are yet to come', async () => {
  const ns = await inNamespace(bed, 'inside');
  const served = { ...cardOf('weather'), env: [{ name: 'a' }], nothing: null };
  const body = signedCard(served, await root.issue(`spiffe://cluster.local/ns/${ns.namespace}/sa/default`));
  await ns.addAgent('weather', { body, spec: hourly });
  await ns.says('weather', 'Verified', 'True/SignatureVerified');
  const { status } = await ns.card('weather');
  for (const inside of [
    { more: { deep: [1] } },
    { env: [{ name: 'a' }, { name: 'b' }] },
    { env: [{ name: 'a', value: 'b' }] },
    { nothing: 1 },
    { capabilities: { pushNotifications: true } },
  ]) {
    const forged = await write(ns, 'weather', { card: inside });
    assert.notDeepEqual((forged as AgentCard).status?.card, status?.card, JSON.stringify(inside));
    await isPutBack(ns, 'weather', status);
  }
  const conditions = status?.conditions?.map((condition) => ({ ...condition, lastTransitionTime: century }));
  await write(ns, 'weather', { lastSyncTime: century, conditions });
  await eventually(async () => assert.doesNotMatch(JSON.stringify((await ns.card('weather')).status), /2137/), soonMs);
  await isPutBack(ns, 'weather', status);
});

test('patched while no operator works, and the agent does not answer: nothing of it opens or stays', async () => {
  const ns = await inNamespace(bed, 'meanwhile');
  const body = signedCard(cardOf('weather'), await root.issue(`spiffe://cluster.local/ns/${ns.namespace}/sa/default`));
  const card = cardOf('weather');
  for (const name of ['weather', 'news']) {
    await ns.addAgent(name, { body, spec: hourly });
    await ns.says(name, 'Verified', 'True/SignatureVerified');
  }
  await operator.stop();
  for (const name of ['weather', 'news']) ns.behave(name, answers(503));
  const evil = { ...card, url: 'http://evil.example/' };
  await write(ns, 'weather', { ...forgery, lastSyncTime: century, card: evil, cardHash: cardHash(evil as never) });
  await write(ns, 'news', { ...forgery, agent: { url: 'http://evil.example/' } });
  const { status } = await ns.card('news');
  operator = await bed.startOperator({ verdicts });
  await ns.says('weather', 'Synced', 'False/HTTPStatus');
  assert.equal(await ns.condition('weather', 'Verified'), 'False/NotFetched');
  assert.deepEqual(await ns.labels('weather'), [undefined, undefined]);
  // It is known well: its turn to be asked comes within the hour.
  await eventually(
    async () => assert.doesNotMatch(JSON.stringify((await ns.card('news')).status), /2037|evil/),
    soonMs,
  );
  assert.equal(await ns.condition('news', 'Verified'), 'True/SignatureVerified');
  assert.deepEqual(await ns.labels('news'), ['true', 'true']);
  assert.deepEqual((await ns.card('news')).status?.card, status?.card);
});
