/** RC-07 for cards: whoever slips in together, one counts; whoever comes later is refused by the list of that moment. */

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { AgentCard } from '../../runtime/api/agent-card.ts';
import { kinds } from '../../runtime/api/kinds.ts';
import { install } from '../../runtime/api/names.ts';
import { liveReader } from '../../runtime/engine/client.ts';
import { createAgentCardValidator } from '../../runtime/validation/webhook.ts';
import { isGenerated, winner } from '../../runtime/workload/cards.ts';
import { handMade, inNamespace, startSyncBed, type SyncBed } from './bed.ts';

let bed: SyncBed;
before(async () => {
  bed = await startSyncBed('card-pairs');
});
after(() => bed.stop());

const size = 20;
const targets = Array.from({ length: size }, (_, i) => `d${i}`);

/** As the API server asks before it stores. */
async function admitted(object: AgentCard): Promise<boolean> {
  const { namespace = '', name = '' } = object.metadata;
  const validator = createAgentCardValidator({ live: liveReader(bed.client), operatorNamespace: install.namespace });
  const request = { uid: 'r', operation: 'CREATE', namespace, name, object, dryRun: false, user: 'dev' } as const;
  const verdict = await validator.review(request);
  if (verdict.kind === 'deny') assert.match(verdict.note, /^an AgentCard already targets Deployment d\d+ /);
  return verdict.kind === 'allow';
}

async function createIfAdmitted(object: AgentCard): Promise<boolean> {
  const isAdmitted = await admitted(object);
  if (isAdmitted) await bed.client.create(kinds.agentCard, object);
  return isAdmitted;
}

const pairs = async (namespace: string) => {
  const { items } = await bed.client.list(kinds.agentCard, { namespace });
  return targets.map((name) => items.filter(({ spec }) => spec.targetRef.name === name));
};

test('RC-07 of 20 pairs of cards created at once there are never two winners, and the loser takes over when the winner goes', async () => {
  const ns = await inNamespace(bed, 'at-once');
  await Promise.all(
    targets.flatMap((target) =>
      ['a', 'b'].map((side) => createIfAdmitted(handMade(ns.namespace, `${side}-${target}`, target))),
    ),
  );
  for (const [i, pair] of (await pairs(ns.namespace)).entries()) {
    assert.ok(pair.length === 1 || pair.length === 2, `${pair.length} cards of d${i}`);
    const first = winner(pair);
    assert.ok(first !== undefined);
    for (const order of [pair, pair.toReversed()]) assert.equal(winner(order), first);
    for (const other of pair.filter((card) => card !== first)) {
      const key = ({ metadata }: AgentCard) => `${metadata.creationTimestamp} ${metadata.uid}`;
      assert.ok(key(first) < key(other));
      assert.equal(winner(pair.filter((card) => card !== first)), other);
    }
  }
  for (const target of targets) assert.equal(await admitted(handMade(ns.namespace, `late-${target}`, target)), false);
});

test('RC-07 of 20 pairs sent one after the other every second one is refused', async () => {
  const ns = await inNamespace(bed, 'in-turn');
  for (const target of targets) {
    assert.equal(await createIfAdmitted(handMade(ns.namespace, `a-${target}`, target)), true);
    assert.equal(await createIfAdmitted(handMade(ns.namespace, `b-${target}`, target)), false);
  }
  for (const pair of await pairs(ns.namespace)) assert.equal(pair.length, 1);
});

test('RC-07 a card by hand and the generated one created at once, 20 times: the one made by hand counts and stays', async () => {
  const operator = await bed.startOperator();
  const ns = await inNamespace(bed, 'with-discovery');
  await Promise.all(
    targets.flatMap((target) => [
      ns.create('Deployment', target),
      createIfAdmitted(handMade(ns.namespace, `mine-${target}`, target)).then((is) => assert.equal(is, true)),
    ]),
  );
  await ns.has(...targets.map((target) => `mine-${target}`));
  for (const target of targets) await operator.pass('Deployment', { namespace: ns.namespace, name: target });
  for (const card of await ns.cards()) assert.equal(isGenerated(card), false);
});
