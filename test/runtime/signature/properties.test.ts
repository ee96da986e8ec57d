/** Whatever comes: nothing throws, every verdict is from the bounded list, and no change of a signed card survives. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { signatureReasons } from '../../../runtime/api/conditions.ts';
import type { Json, JsonObject } from '../../../runtime/encoding/strict-json.ts';
import { signCard } from '../../../runtime/signature/sign.ts';
import { verifyCard } from '../../../runtime/signature/verify.ts';
import { base64Of, bodyOf, keyPem, makeFamily } from './pki.ts';
import { bytesOf, cardIn, optionsWith, vectors, verdictOn } from './vectors.ts';
import { parseTrustBundle } from '../../../runtime/signature/trust-bundle.ts';

const { root, intermediate, leaf } = makeFamily();
const options = optionsWith({ bundle: parseTrustBundle(root.pem) });
const keys = { key: keyPem(leaf), chain: leaf.pem + intermediate.pem };

function isBounded(body: Uint8Array): boolean {
  const result = verdictOn(body, options);
  return result.isValid || (signatureReasons.includes(result.reason) && result.detail.length <= 1000);
}

test('random bytes never throw', () => {
  fc.assert(fc.property(fc.uint8Array({ maxLength: 300 }), isBounded));
});

const header = fc.record(
  {
    alg: fc.oneof(fc.constantFrom('ES256', 'RS256', 'none'), fc.jsonValue()),
    x5c: fc.oneof(fc.constant(base64Of(leaf, intermediate)), fc.array(fc.base64String()), fc.jsonValue()),
    kid: fc.jsonValue(),
    crit: fc.jsonValue(),
  },
  { requiredKeys: [] },
);
const encoded = fc.oneof(
  header.map((members) => Buffer.from(JSON.stringify(members)).toString('base64url')),
  fc.json().map((text) => Buffer.from(text).toString('base64url')),
  fc.uint8Array().map((bytes) => Buffer.from(bytes).toString('base64url')),
  fc.string(),
);
const entry = fc.oneof(
  fc.record({ protected: encoded, signature: encoded }),
  fc.record({ protected: encoded, signature: encoded, header: fc.jsonValue() }),
  fc.jsonValue(),
);
const signatures = fc.oneof(fc.array(entry, { maxLength: 10 }), fc.jsonValue());

test('random entries never throw, and none of them verifies', () => {
  fc.assert(
    fc.property(signatures, fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue()), (list, rest) => {
      const result = verifyCard({ ...(rest as JsonObject), signatures: list as Json }, options);
      assert.ok(!result.isValid);
      assert.ok(signatureReasons.includes(result.reason));
      assert.match(result.detail, /^\P{Cc}{1,1000}$/u);
    }),
    { numRuns: 1000 },
  );
});

test('a vector spoiled in one byte never throws, and is verified only if its payload is as it was', () => {
  const rows = vectors.filter(({ expected }) => expected === 'verified');
  fc.assert(
    fc.property(fc.constantFrom(...rows), fc.nat(), fc.nat(255), ({ file }, place, byte) => {
      const body = Buffer.from(bytesOf(file));
      body[place % body.length] = byte;
      const result = verdictOn(body, optionsWith());
      if (!result.isValid) return;
      const { signatures: _, ...card } = result.card;
      const { signatures: __, ...original } = cardIn(bytesOf(file));
      assert.deepEqual(without(card, result.unsigned), without(original, result.unsigned));
    }),
    { numRuns: 500 },
  );
});

test('of the signatures the one that covers the card is kept, and of it what was signed', () => {
  const signed = JSON.parse(bodyOf(signCard(bodyOf({ name: 'Weather' }), keys).card).toString()) as JsonObject;
  const [good] = signed['signatures'] as readonly JsonObject[];
  const junk: readonly Json[] = [{ protected: 'e30', signature: 'AA' }, 'junk', { ...good, signature: 'AAAA' }];
  const entries: Json = [...junk, { ...good, header: { jku: 'http://elsewhere.example/' }, more: 1 }];
  const result = verifyCard({ ...signed, signatures: entries }, options);
  assert.deepEqual(result.isValid && result.card, { name: 'Weather', signatures: [good] });
});

/** Reduced forms leave out what they do not cover; where there is any, only they tell what was signed. */
function without(card: object, unsigned: readonly string[]): object {
  return unsigned.length > 0 ? {} : card;
}

const json = fc.jsonValue({ stringUnit: 'binary' }) as fc.Arbitrary<Json>;
const cards = (fc.dictionary(fc.string({ unit: 'binary' }), json) as fc.Arbitrary<JsonObject>).filter(
  (card) => !Object.hasOwn(card, 'signatures') && !Object.hasOwn(card, 'agentCard'),
);

test('any card that is signed is verified as jcs, covers everything, and comes back as it was', () => {
  fc.assert(
    fc.property(cards, (card) => {
      const signed = bodyOf(signCard(bodyOf(card), keys).card);
      const result = verdictOn(signed, options);
      assert.ok(result.isValid && result.isBound);
      assert.equal(result.profile, 'jcs');
      assert.deepEqual(result.unsigned, []);
      assert.deepEqual(result.card, JSON.parse(signed.toString()));
    }),
    { numRuns: 200 },
  );
});

test('a member added, changed or removed after signing, and the card is not verified with it', () => {
  fc.assert(
    fc.property(cards, fc.string({ unit: 'binary' }), json, (card, name, value) => {
      fc.pre(name !== 'signatures');
      const { card: signed } = signCard(bodyOf(card), keys);
      const changed: JsonObject = { ...signed, [name]: value };
      const result = verdictOn(bodyOf(changed), options);
      const isSame = Object.hasOwn(card, name) && JSON.stringify(card[name]) === JSON.stringify(value);
      if (isSame) assert.ok(result.isValid);
      else if (result.isValid) {
        // Only what a reduced form leaves out may have been added, and it is neither kept nor unreported.
        assert.equal(Object.hasOwn(result.card, name), false);
        assert.equal(result.unsigned.length, 1);
      }
    }),
    { numRuns: 200 },
  );
});
