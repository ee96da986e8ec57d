/** When an agent's network is open: each row breaks one thing that a standing verdict needs. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { verdictOf } from '../../../runtime/network-policy/verdict.ts';
import { judgedPart, type Verdict } from '../../../runtime/workload/verdicts.ts';
import { card, type CardShape, condition, now, reachedOf, statusOf } from './fixtures.ts';

const other = { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'weather' };
const inMinutes = (minutes: number): string => new Date(now.getTime() + minutes * 60_000).toISOString();
const ends = (certificateExpires: string): CardShape => ({ status: statusOf('True', { certificateExpires }) });

const opened = judgedPart(card());

interface Row {
  readonly what: string;
  readonly shape: CardShape;
  readonly why?: RegExp;
}

/** What is said of a verdict that was just reached, and of a status that was there before this process. */
const rows: readonly Row[] = [
  { what: 'verified', shape: { verified: 'True' } },
  { what: 'no status at all', shape: {}, why: /no verdict on its card yet/ },
  {
    what: 'a status without a verdict',
    shape: { status: { conditions: [condition('Synced', 'True')] } },
    why: /no verdict/,
  },
  { what: 'not verified', shape: { verified: 'False' }, why: /not verified \(SignatureInvalid\)/ },
  { what: 'not known', shape: { verified: 'Unknown' }, why: /not verified/ },
  {
    what: 'ready is no verdict',
    shape: { status: { conditions: [condition('Ready', 'True'), condition('Bound', 'True')] } },
    why: /no verdict/,
  },
  { what: 'SG-13: a certificate that ends later', shape: ends(inMinutes(1)) },
  { what: 'SG-13: a certificate that ends now', shape: ends(inMinutes(0)), why: /expired/ },
  { what: 'SG-13: a certificate that has ended', shape: ends(inMinutes(-60)), why: /expired/ },
  { what: 'SG-13: an end that cannot be read', shape: ends('some day'), why: /expired/ },
];

for (const { what, shape, why } of rows) {
  test(`${what}: ${why === undefined ? 'open' : 'closed'}, and so it stands after a restart`, () => {
    for (const reached of [reachedOf(card(shape)), undefined]) {
      const verdict = verdictOf(card(shape), now, { reached, opened });
      assert.equal(verdict.isOpen, why === undefined);
      if (!verdict.isOpen) assert.match(verdict.why, why ?? /^$/);
    }
  });
}

test('SG-13: the end of the certificate is waited for, to the millisecond', () => {
  for (const reached of [reachedOf(card(ends(inMinutes(2)))), undefined]) {
    const verdict = verdictOf(card(ends(inMinutes(2))), now, { reached, opened });
    assert.deepEqual(verdict, { isOpen: true, afterMs: 120_000 });
  }
  const verified = card({ verified: 'True' });
  assert.deepEqual(verdictOf(verified, now, { reached: reachedOf(verified), opened }), { isOpen: true });
});

const good: Verdict = { isVerified: true, reason: 'SignatureVerified', about: opened, expires: inMinutes(5) };
const refused: Verdict = { isVerified: false, reason: 'Expired', about: opened };

test('a status that somebody has forged changes nothing: neither opens nor closes, nor prolongs', () => {
  const forged = card(ends(inMinutes(600_000)));
  assert.equal(verdictOf(forged, now, { reached: refused, opened }).isOpen, false);
  assert.deepEqual(verdictOf(forged, now, { reached: good, opened }), { isOpen: true, afterMs: 300_000 });
  assert.equal(verdictOf(card({ verified: 'False' }), now, { reached: good, opened: undefined }).isOpen, true);
});

test('no status opens what is closed: who has written it, and by which rules, is not known', () => {
  const verdict = verdictOf(card(ends(inMinutes(5))), now, { reached: undefined, opened: undefined });
  assert.deepEqual(verdict, { isOpen: false, why: 'there is no verdict on its card yet' });
});

test('a verdict stands while only what it is not about has been edited', () => {
  const isOpen = (spec: NonNullable<CardShape['spec']>) =>
    [good, undefined].map((reached) => {
      const edited = card({ verified: 'True', generation: 2, spec });
      return verdictOf(edited, now, { reached, opened }).isOpen;
    });
  assert.deepEqual(isOpen({ syncPeriod: '5m' }), [true, true]);
  assert.deepEqual(isOpen({ identityBinding: {} }), [true, true]);
  assert.deepEqual(isOpen({ identityBinding: { scope: 'workload' } }), [false, false]);
  assert.deepEqual(isOpen({ targetRef: other }), [false, false]);
});
