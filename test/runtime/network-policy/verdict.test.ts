/** When an agent's network is open: each row breaks one thing that a standing verdict needs. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { judgedPart, verdictOf } from '../../../runtime/network-policy/verdict.ts';
import { card, type CardShape, condition, now, statusOf } from './fixtures.ts';

const other = { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'weather' };
const target = card().spec.targetRef;
const inMinutes = (minutes: number): string => new Date(now.getTime() + minutes * 60_000).toISOString();
const ends = (certificateExpires: string): CardShape => ({ status: statusOf('True', { certificateExpires }) });

const rows: readonly (readonly [what: string, shape: CardShape, why: RegExp | undefined])[] = [
  ['verified', { verified: 'True' }, undefined],
  ['no status at all', {}, /no verdict on its card yet/],
  ['a status without a verdict', { status: { conditions: [condition('Synced', 'True')] } }, /no verdict/],
  ['not verified', { verified: 'False' }, /not verified \(SignatureInvalid\)/],
  ['not known', { verified: 'Unknown' }, /not verified/],
  [
    'ready is no verdict',
    { status: { conditions: [condition('Ready', 'True'), condition('Bound', 'True')] } },
    /no verdict/,
  ],
  ['verified, about this target', { status: statusOf('True', { targetRef: target }) }, undefined],
  ['verified, about another target', { status: statusOf('True', { targetRef: other }) }, /about StatefulSet weather/],
  [
    'verified, about a later version of this target’s API',
    { status: statusOf('True', { targetRef: { ...target, apiVersion: 'apps/v2' } }) },
    undefined,
  ],
  ['verified, about an earlier spec', { verified: 'True', generation: 2 }, /an earlier spec/],
  [
    'verified for this spec, while the rest of the status is older',
    {
      generation: 2,
      status: { observedGeneration: 1, conditions: [condition('Verified', 'True', { observedGeneration: 2 })] },
    },
    undefined,
  ],
  ['SG-13: a certificate that ends later', ends(inMinutes(1)), undefined],
  ['SG-13: a certificate that ends now', ends(inMinutes(0)), /expired/],
  ['SG-13: a certificate that has ended', ends(inMinutes(-60)), /expired/],
  ['SG-13: an end that cannot be read', ends('some day'), /expired/],
];

for (const [what, shape, why] of rows) {
  test(`${what}: ${why === undefined ? 'open' : 'closed'}`, () => {
    const verdict = verdictOf(card(shape), now, undefined);
    assert.equal(verdict.isOpen, why === undefined);
    if (!verdict.isOpen) assert.match(verdict.why, why ?? /^$/);
  });
}

test('SG-13: the end of the certificate is waited for, to the millisecond', () => {
  assert.deepEqual(verdictOf(card(ends(inMinutes(2))), now, undefined), { isOpen: true, afterMs: 120_000 });
  assert.deepEqual(verdictOf(card({ verified: 'True' }), now, undefined), { isOpen: true });
});

test('a condition without a generation counts for the generation of its status', () => {
  const { observedGeneration: _, ...bare } = condition('Verified', 'True');
  const of = (observedGeneration: number) =>
    card({ generation: 2, status: { observedGeneration, conditions: [bare] } });
  assert.equal(verdictOf(of(2), now, undefined).isOpen, true);
  assert.equal(verdictOf(of(1), now, undefined).isOpen, false);
  assert.equal(verdictOf(card({ status: { conditions: [bare] } }), now, undefined).isOpen, false);
});

test('a verdict stands while only what it is not about has been edited', () => {
  const opened = judgedPart(card());
  const edited = (spec: CardShape['spec']) =>
    card({ verified: 'True', generation: 2, ...(spec === undefined ? {} : { spec }) });
  assert.equal(verdictOf(edited({ syncPeriod: '5m' }), now, opened).isOpen, true);
  assert.equal(verdictOf(edited({ identityBinding: {} }), now, opened).isOpen, true);
  assert.equal(verdictOf(edited({ identityBinding: { scope: 'workload' } }), now, opened).isOpen, false);
  assert.equal(verdictOf(edited({ targetRef: other }), now, opened).isOpen, false);
  assert.equal(verdictOf(card({ verified: 'False', generation: 2 }), now, opened).isOpen, false);
  assert.equal(judgedPart(card({ spec: { syncPeriod: '1h' } })), opened);
});
