/** Many agents, nearly a third of them hostile: none delays another, and in the end only agents are asked. */

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { AgentCard } from '../../runtime/api/agent-card.ts';
import { kinds } from '../../runtime/api/kinds.ts';
import { eventually } from '../support/engine-bed.ts';
import { answers, type Behaviour, drips, floods, hangs, serves } from './agents.ts';
import { type CardBed, startCardBed } from './bed.ts';
import { inNamespace } from './space.ts';

let bed: CardBed;
before(async () => {
  bed = await startCardBed('cards-crowd');
});
after(() => bed.stop());

/** The suite takes fewer than the five hundred for which this was written; `CROWD=500` takes all. */
const many = Number(process.env['CROWD'] ?? 150);
/** Of every ten agents three: one of these in turn. */
const hostile: readonly Behaviour[] = [
  hangs,
  drips,
  floods,
  answers(500),
  serves('<html>'),
  serves('{"a":1,"a":2}'),
  serves('['.repeat(100_000)),
];
const isHostile = (i: number): boolean => i % 10 < 3;

/** In parallel, but not all at once. */
async function each(count: number, work: (i: number) => Promise<unknown>): Promise<void> {
  let next = 0;
  const lane = async (): Promise<void> => {
    for (let i = next++; i < count; i = next++) await work(i);
  };
  await Promise.all(Array.from({ length: 16 }, lane));
}

test(`${many} cards, three of ten of hostile agents: every healthy one is synced`, async () => {
  const ns = await inNamespace(bed, 'crowd');
  const nameOf = (i: number): string => `agent-${i}`;
  await each(many, async (i) => {
    const name = nameOf(i);
    await ns.addAgent(name, { shape: { kind: 'StatefulSet' }, spec: { syncPeriod: '30s' } });
    if (isHostile(i)) ns.behave(name, hostile[i % hostile.length] ?? hangs);
  });
  const operator = await bed.startOperator({ timeoutMs: 2_000, verification: { isRequired: false } });
  const reasons = async (): Promise<ReadonlyMap<string, string>> => {
    const { items } = await bed.client.list<AgentCard>(kinds.agentCard, { namespace: ns.namespace });
    return new Map(items.map(({ metadata, status }) => [metadata.name ?? '', syncedOf(status)]));
  };
  await eventually(async () => {
    const found = await reasons();
    const open = Array.from({ length: many }, (_, i) => i).filter((i) =>
      isHostile(i) ? !isTold(found.get(nameOf(i))) : found.get(nameOf(i)) !== 'CardSynced',
    );
    assert.deepEqual(open.map(nameOf), []);
  }, 240_000);
  const writes = operator.requests(ns.namespace).filter(({ objectRef }) => objectRef?.subresource === 'status').length;
  assert.ok(writes <= 3 * many, `${writes} status writes for ${many} cards`);
  await operator.stop();
});

function syncedOf(status: AgentCard['status']): string {
  return status?.conditions?.find(({ type }) => type === 'Synced')?.reason ?? '';
}

const isTold = (reason = ''): boolean => ['Timeout', 'TooLarge', 'HTTPStatus', 'NotJSON', 'NotACard'].includes(reason);
