/** The policy of pods that outlive their workload: what it says, who owns it, and what is told of it. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { NetworkPolicy } from '../../../runtime/api/kubernetes.ts';
import { leftoverNotices, leftoverPolicy } from '../../../runtime/network-policy/leftover.ts';
import { restrictiveRules } from '../../../runtime/network-policy/policies.ts';
import { card, permissive, selector, surroundings } from './fixtures.ts';
import { deletionTimestamp, look, pod } from './outliving-bed.ts';

test('each is an owner of one closed policy, whatever the verdict was; its name is neither the card’s nor another card’s', async () => {
  const { outlived } = await look({ policies: [permissive()], pods: [pod('a'), pod('b')] });
  const [fragment] = outlived.map(leftoverPolicy);
  assert.ok(fragment);
  const { metadata, spec } = fragment.body as NetworkPolicy;
  assert.deepEqual(spec, {
    podSelector: selector,
    policyTypes: ['Ingress', 'Egress'],
    ...restrictiveRules(surroundings()),
  });
  assert.deepEqual(metadata.ownerReferences, [
    { apiVersion: 'v1', kind: 'Pod', name: 'a', uid: 'uid-a' },
    { apiVersion: 'v1', kind: 'Pod', name: 'b', uid: 'uid-b' },
  ]);
  assert.match(metadata.name ?? '', /^weather-signature-policy-[0-9a-f]{8}$/);
  const names = [card({ uid: 'other' }), card()].map((of) => {
    const [first] = outlived;
    assert.ok(first);
    return leftoverPolicy({ ...first, card: of }).body.metadata.name;
  });
  assert.equal(new Set(names).size, 2);
  assert.equal(names[1], metadata.name);
});

test('more than a hundred owners: of more pods those that stay longest', () => {
  const pods = Array.from({ length: 119 }, (_, i) =>
    pod(`p${i}`, { deletionTimestamp: new Date(Date.parse(deletionTimestamp) + i * 1000).toISOString() }),
  );
  const { body } = leftoverPolicy({
    card: card(),
    podSelector: selector,
    pods: [...pods, pod('stays')],
    surroundings: surroundings(),
  });
  const owners = body.metadata.ownerReferences?.map(({ name }) => name) ?? [];
  assert.deepEqual([owners.length, owners.slice(0, 2), owners.at(-1)], [100, ['stays', 'p118'], 'p20']);
});

test('whose pods are closed meanwhile is told, a few by name', () => {
  const facts = { card: card(), podSelector: selector, pods: [pod('a')], surroundings: surroundings() };
  assert.deepEqual(leftoverNotices({ ...facts, strangers: [] }), []);
  const [notice] = leftoverNotices({ ...facts, strangers: ['Job a', 'Job b', 'Job c', 'Job d', 'Job e'] });
  assert.match(
    notice?.note ?? '',
    /^NetworkPolicy weather-signature-policy-[0-9a-f]{8} closes the pods that outlive Deployment weather .* those of Job a, Job b, Job c and 2 more, which/,
  );
});
