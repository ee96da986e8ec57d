/** Every row of test/vectors/manifest.json: verdict, reason, identity, and what is kept of the card. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { conditionReason } from '../../../runtime/api/conditions.ts';
import { bundleText, parseTrustBundle } from '../../../runtime/signature/trust-bundle.ts';
import { documentsOf } from '../../../runtime/cli/documents.ts';
import { payloadOf, type Profile, profiles } from '../../../runtime/signature/payloads.ts';
import { at, bundleIn, bytesOf, cardIn, jsonOf, reasonOf, textOf, type Vector, vectors, verdictOf } from './vectors.ts';

/** Rows whose reason we word otherwise, and why. */
const otherReasons: Readonly<Record<string, { readonly ours: string; readonly because: string }>> = {
  'bad-jwk-attacker-key': {
    ours: 'payload-mismatch',
    because:
      'a well-formed ECDSA signature that fails cannot tell whether the card or the key is another; the sentence names both, and jwk is not read even to explain',
  },
};

function isExpected({ id, reason, acceptReasons = [] }: Vector, ours: string): boolean {
  const accepted = [reason, ...acceptReasons, otherReasons[id]?.ours];
  return accepted.some((each) => each === ours || (each !== undefined && conditionReason(each) === ours));
}

for (const vector of vectors) {
  const { id, expected, expectedStrict = expected, spiffeId, bound, signatureValid, storedMustNotContain } = vector;
  test(`vector ${id}`, () => {
    const result = verdictOf(vector);
    const verdict = result.isValid && result.isBound ? 'verified' : 'rejected';
    assert.equal(verdict, expected, JSON.stringify(result).slice(0, 500));
    assert.ok(isExpected(vector, reasonOf(result)), `${reasonOf(result)} instead of ${vector.reason}`);
    assert.equal(result.isValid, expected === 'verified' || signatureValid === true);
    if (bound !== undefined) assert.equal(result.isValid && result.isBound, bound);
    if (!result.isValid) assert.ok(result.detail.length > 10 && result.detail.length <= 1000, result.detail);
    else {
      // A rejected row names no identity.
      if (typeof spiffeId === 'string') assert.equal(result.spiffeId, spiffeId);
      if (vector.profile !== undefined) assert.ok(hasSameBytes(vector, result.profile), result.profile);
      if (vector.alg !== undefined) assert.equal(result.algorithm, vector.alg);
      for (const pointer of storedMustNotContain ?? []) {
        assert.equal(at(result.card, pointer), undefined);
        assert.ok(result.unsigned.includes(pointer), `${pointer} is not reported as unsigned`);
      }
    }
    const strict = verdictOf(vector, 'jcs');
    assert.equal(strict.isValid && strict.isBound ? 'verified' : 'rejected', expectedStrict, 'profile jcs alone');
  });
}

test('every disagreement about a reason is one that exists', () => {
  for (const [id, { ours, because }] of Object.entries(otherReasons)) {
    const vector = vectors.find((each) => each.id === id);
    assert.ok(vector !== undefined, id);
    assert.equal(reasonOf(verdictOf(vector)), ours);
    assert.notEqual(vector.reason, ours);
    assert.ok(because.length > 20);
  }
});

/** Forms that give the same bytes for a card are the same signature; the first in order is reported. */
function hasSameBytes({ file, profile }: Vector, reported: Profile): boolean {
  const card = cardIn(bytesOf(file));
  const named = profiles.find((each) => each === profile);
  return named !== undefined && payloadOf(card, named).text === payloadOf(card, reported).text;
}

interface BundleRow {
  readonly file: string;
  readonly format: 'pem' | 'spiffe' | 'error';
  readonly anchors: number;
  readonly notes?: string;
}

for (const { file, format, anchors, notes = '' } of jsonOf('bundles/bundles.json') as readonly BundleRow[]) {
  test(`bundle ${file}: ${anchors} anchors ${notes}`, () => {
    const bundle = bundleIn(file);
    assert.equal(bundle.anchors.length, anchors, bundle.warnings.join('; '));
    if (format === 'error') assert.ok(bundle.warnings.length > 0);
    if (notes.includes('warning')) assert.match(bundle.warnings.join(), /PEM block \d is left out/);
  });
}

test('the bundle of a ConfigMap, as SPIRE writes it, is found under its key', () => {
  const [map] = documentsOf([{ file: 'map', text: textOf('bundles/configmap-spire-bundle.yaml') }]);
  const found = bundleText(map?.object['data'] as Readonly<Record<string, string>>, '');
  assert.ok('text' in found);
  assert.equal(found.key, 'bundle.crt');
  assert.ok(parseTrustBundle(found.text).anchors.length >= 2);
});
