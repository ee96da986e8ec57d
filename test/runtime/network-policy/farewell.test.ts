/** The controller that holds cards, with and without something to see to before it lets one go. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { kinds } from '../../../runtime/api/kinds.ts';
import type { AgentCard } from '../../../runtime/api/agent-card.ts';
import type { Controller } from '../../../runtime/engine/types.ts';
import { withFarewell } from '../../../runtime/network-policy/farewell.ts';
import { networkPolicies } from '../../../runtime/network-policy/watch.ts';
import { agentCards } from '../../../runtime/workload/cards.ts';
import { enrolledPods, namespaces } from '../../../runtime/workload/watches.ts';
import { card, now, selector, surroundings } from './fixtures.ts';

const target = { kind: kinds.pod, namespace: 'team1', name: 'a' };
const cards: Controller<AgentCard, string, never> = {
  name: 'cards',
  fieldManager: 'x',
  finalizer: 'x/y',
  primary: agentCards,
  optional: [enrolledPods],
  triggers: [],
  wakeOn: 'spec',
  observe: ({ metadata }) => Promise.resolve(metadata.name ?? ''),
  decide: (name) => ({ patch: [{ target, body: { name } }] }),
  release: (name) => ({ patch: [{ target, body: { released: name } }] }),
};
const withIt = withFarewell(cards, { layers: undefined as never, operatorNamespace: 'rossoctl-system' });

test('it does what it did, and reads what is missing only where it may', async () => {
  const gathering = { reader: undefined as never, live: undefined as never, signal: AbortSignal.any([]) };
  const observed = await withIt.observe(card(), gathering);
  assert.deepEqual(observed, { observed: 'weather', outlived: [] });
  assert.deepEqual(withIt.decide(observed, now), cards.decide('weather', now));
  assert.deepEqual(withIt.release?.(observed), {
    patch: [{ target, body: { released: 'weather' } }],
    create: [],
    notices: [],
  });
  assert.deepEqual(withIt.optional, [enrolledPods, networkPolicies, namespaces]);
  assert.deepEqual([withIt.name, withIt.finalizer], ['cards', 'x/y']);
});

test('what pods outlive is closed before the rest is taken back', () => {
  const metadata = { namespace: 'team1', name: 'a', uid: 'u' };
  const pods = [{ apiVersion: 'v1', kind: 'Pod', metadata, spec: { containers: [] } }];
  const outlived = [{ card: card(), podSelector: selector, pods, strangers: ['Job a'], surroundings: surroundings() }];
  const plan = withIt.release?.({ observed: 'weather', outlived });
  assert.deepEqual(
    plan?.notices?.map(({ reason }) => reason),
    ['NetworkPolicySelectsOthers'],
  );
  assert.deepEqual(
    plan?.create?.map(({ kind }) => kind.kind),
    ['NetworkPolicy'],
  );
  assert.equal(plan.patch?.length, 1);
});
