/** Whose signature counts for a card, by what card and install say. */

import assert from 'node:assert/strict';
import test from 'node:test';
import { type Binding, bindingOf, expectedIdentity } from '../../../runtime/agent-card/binding.ts';
import { bindingOf as verdictOn } from '../../../runtime/signature/binding.ts';
import { parseSpiffeId } from '../../../runtime/signature/spiffe-id.ts';
import { card, workload } from './card-fixtures.ts';

function admits(binding: Binding, text: string): boolean {
  const id = parseSpiffeId(text);
  assert.ok(id !== undefined);
  return verdictOn(id, expectedIdentity(binding)).reason === 'Bound';
}

test('an identity is admitted as the card’s binding says', () => {
  const install = { trustDomain: { name: 'cluster.local' }, scope: 'trustDomain' } as const;
  const tight = { ...install, scope: 'workload' } as const;
  const own = 'spiffe://cluster.local/ns/team1/sa/default';
  const rows: readonly (readonly [ReturnType<typeof bindingOf>, string, boolean])[] = [
    [bindingOf(card(), workload(), install), 'spiffe://cluster.local/anybody', true],
    [bindingOf(card(), workload(), install), 'spiffe://cluster.local.evil/anybody', false],
    [bindingOf(card({ identityBinding: { scope: 'workload' } }), workload(), install), own, true],
    [bindingOf(card({ identityBinding: { scope: 'workload' } }), workload(), install), `${own}2`, false],
    [bindingOf(card({ identityBinding: { scope: 'workload' } }), workload(undefined, 'robot'), install), own, false],
    [bindingOf(card({ identityBinding: { trustDomain: 'other.test' } }), workload(), install), own, false],
    [bindingOf(card(), workload(), { ...install, trustDomain: { unknown: 'why' } }), own, false],
    [bindingOf(card(), workload(), tight), own, true],
    [bindingOf(card(), workload(), tight), `${own}2`, false],
    [bindingOf(card({ identityBinding: { strict: false } }), workload(), tight), `${own}2`, false],
    [bindingOf(card({ identityBinding: { scope: 'trustDomain' } }), workload(), tight), `${own}2`, true],
  ];
  for (const [binding, id, is] of rows) assert.equal(admits(binding, id), is, `${id} ${JSON.stringify(binding)}`);
});
