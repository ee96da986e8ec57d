/** Discovery on a real API server: from a workload to its card, every reason why not, what it costs, and two cards for one workload. */

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { kinds } from '../../runtime/api/kinds.ts';
import type { Kind } from '../../runtime/engine/types.ts';
import { winner } from '../../runtime/workload/cards.ts';
import { textOf } from '../support/audit-log.ts';
import { eventually } from '../support/engine-bed.ts';
import { answers, serves } from './agents.ts';
import { type CardBed, type Operator, startCardBed } from './bed.ts';
import { cardOf } from './objects.ts';
import { inNamespace } from './space.ts';

let bed: CardBed;
let operator: Operator;
before(async () => {
  bed = await startCardBed('cards-discovery');
  operator = await bed.startOperator({ verification: { isRequired: false } });
});
after(() => bed.stop());

const deployments = kinds.deployment as Kind;

test('a workload that says it speaks A2A is asked for its card, and the card is stored as served', async () => {
  const ns = await inNamespace(bed, 'found');
  const served = cardOf('weather', { nested: { empty: {}, none: null, list: [] }, skills: [{ id: 'x', tags: [] }] });
  await ns.addAgent('weather', { body: JSON.stringify(served) });
  await ns.says('weather', 'Synced', 'True/CardSynced');
  const { status, metadata } = await ns.card('weather');
  assert.deepEqual(status?.card, served);
  assert.equal(status?.protocol, 'a2a');
  assert.equal(status?.agent?.name, 'weather');
  assert.equal(status?.agent?.path, '/.well-known/agent-card.json');
  assert.equal(status?.observedGeneration, metadata.generation);
  assert.match(status?.cardHash ?? '', /^[0-9a-f]{64}$/);
  assert.deepEqual(
    status?.conditions?.map(({ type, status: is }) => `${type}=${is}`),
    ['Ready=True', 'Synced=True'],
  );
  await operator.settled();
  assert.deepEqual(await ns.events('weather'), ['CardSynced']);
});

test('every reason why a card is not there is told, and each is over by itself', async () => {
  const ns = await inNamespace(bed, 'reasons');
  const says = (reason: string) => ns.says('weather', 'Synced', reason);
  ns.behave('weather', serves(JSON.stringify(cardOf('weather'))));
  await ns.addCard('weather');
  await says('False/WorkloadNotFound');
  await ns.addWorkload('weather', { labels: {} });
  await says('False/NotAgentWorkload');
  await ns.patch(deployments, 'weather', { metadata: { labels: { 'rossoctl.io/type': 'agent' } } });
  await says('False/NoProtocol');
  await ns.patch(deployments, 'weather', { metadata: { labels: { 'protocol.rossoctl.io/a2a': '' } } });
  await says('False/WorkloadNotReady');
  await ns.addService('weather');
  await ns.addPod('weather');
  await says('True/CardSynced');
  await ns.patch(kinds.service as Kind, 'weather', { metadata: { annotations: { 'rossoctl.io/port': 'nope' } } });
  await says('False/ServiceNotFound');
  await ns.patch(kinds.service as Kind, 'weather', { metadata: { annotations: { 'rossoctl.io/port': null } } });
  await says('True/CardSynced');
  const failures = [
    [answers(500), 'False/HTTPStatus'],
    [serves('<html>'), 'False/NotJSON'],
    [serves('[]'), 'False/NotACard'],
    [serves('{"a":1,"a":2}'), 'False/NotACard'],
    [answers(302, { location: 'http://169.254.169.254/' }), 'False/Redirected'],
    [serves(JSON.stringify({ big: 'x'.repeat(1_100_000) })), 'False/TooLarge'],
  ] as const;
  for (const [behaviour, reason] of failures) {
    ns.behave('weather', behaviour);
    await says(reason);
    assert.equal((await ns.card('weather')).status?.agent?.name, 'weather', 'the last card stays');
  }
  ns.behave('weather', serves(JSON.stringify(cardOf('other'))));
  await says('True/CardSynced');
  await ns.remove(deployments, 'weather');
  await says('False/WorkloadNotFound');
  await operator.settled();
  const events = await ns.events('weather');
  for (const reason of [
    'WorkloadNotFound',
    'NotAgentWorkload',
    'NoProtocol',
    'HTTPStatus',
    'NotACard',
    'CardChanged',
  ]) {
    assert.ok(events.includes(reason), `${reason} in ${events.join()}`);
  }
});

test('a kind that cannot be a target is told, and StatefulSets and DaemonSets can', async () => {
  const ns = await inNamespace(bed, 'kinds');
  for (const kind of ['StatefulSet', 'DaemonSet'] as const) {
    await ns.addAgent(kind.toLowerCase(), { shape: { kind } });
    await ns.says(kind.toLowerCase(), 'Synced', 'True/CardSynced');
  }
  await ns.addCard('odd', { targetRef: { apiVersion: 'v1', kind: 'ConfigMap', name: 'odd' } });
  await ns.says('odd', 'Synced', 'False/TargetUnsupported');
});

test('a card of more than 256 KiB is known but not stored, and Ready says so', async () => {
  const ns = await inNamespace(bed, 'large');
  await ns.addAgent('weather', { body: JSON.stringify(cardOf('weather', { blob: 'x'.repeat(300_000) })) });
  await ns.says('weather', 'Ready', 'False/CardTooLarge');
  const { status } = await ns.card('weather');
  assert.equal(status?.card, undefined);
  assert.equal(status?.agent?.name, 'weather');
  assert.equal(await ns.condition('weather', 'Synced'), 'True/CardSynced');
});

test('RC-07: of two cards for one workload one counts, the other names it, and takes over when it is gone', async () => {
  const ns = await inNamespace(bed, 'duplicates');
  await ns.addAgent('weather');
  await ns.addCard('weather', {}, 'second');
  const cards = [await ns.card('weather'), await ns.card('second')];
  const first = winner(cards)?.metadata.name ?? '';
  const other = first === 'weather' ? 'second' : 'weather';
  await ns.says(first, 'Synced', 'True/CardSynced');
  await ns.says(other, 'Synced', 'False/DuplicateTarget');
  const { status } = await ns.card(other);
  assert.match(
    status?.conditions?.find(({ type }) => type === 'Synced')?.message ?? '',
    new RegExp(`AgentCard ${first} `),
  );
  await ns.remove(kinds.agentCard as Kind, first);
  await ns.isGone(kinds.agentCard as Kind, first);
  await ns.says(other, 'Synced', 'True/CardSynced');
});

test('OB-02: a hundred passes in one state write one event and one status', async () => {
  const ns = await inNamespace(bed, 'calm');
  await ns.addCard('weather');
  await ns.says('weather', 'Synced', 'False/WorkloadNotFound');
  const told = () =>
    operator
      .requests(ns.namespace)
      .map((request) => textOf(request).replace(/\.[0-9a-f]{16} /, ' '))
      .sort();
  const once = [
    'create events.k8s.io/events weather in calm',
    'patch agent.rossoctl.dev/agentcards weather in calm',
    'patch agent.rossoctl.dev/agentcards/status weather in calm',
  ];
  await operator.settled();
  assert.deepEqual(told(), once);
  await operator.pass({ namespace: ns.namespace, name: 'weather' }, 100);
  await operator.settled();
  assert.deepEqual(await ns.events('weather'), ['WorkloadNotFound']);
  assert.deepEqual(told(), once);
});

test('in a steady state agents are asked and the API server is not', async () => {
  const ns = await inNamespace(bed, 'steady');
  const names = Array.from({ length: 10 }, (_, i) => `agent-${i}`);
  for (const name of names) await ns.addAgent(name);
  for (const name of names) await ns.says(name, 'Synced', 'True/CardSynced');
  await operator.settled();
  const before = operator.requests(ns.namespace);
  const asked = names.map((name) => ns.asked(name));
  await eventually(() => names.every((name, i) => ns.asked(name) >= (asked[i] ?? 0) + 3));
  await operator.settled();
  assert.deepEqual(operator.requests(ns.namespace).map(textOf), before.map(textOf));
});
