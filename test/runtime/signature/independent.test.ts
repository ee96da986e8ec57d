/** Cards signed by a program that shares nothing with ours are verified here, and ours there. */

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { test } from 'node:test';
import type { JsonObject } from '../../../runtime/encoding/strict-json.ts';
import { signCard } from '../../../runtime/signature/sign.ts';
import { parseTrustBundle } from '../../../runtime/signature/trust-bundle.ts';
import { bodyOf, issue, type KeyKind, keyPem, makeFamily, makeKeys, svidExtensions } from './pki.ts';
import { bytesOf, cardIn, optionsWith, verdictOn } from './vectors.ts';

const probe = spawnSync('python3', ['-c', 'import cryptography']);
const skip = probe.status === 0 ? false : 'python3 with the package cryptography is not on this machine';

function python(request: object): unknown {
  const script = path.join(import.meta.dirname, 'independent.py');
  const { status, stdout, stderr } = spawnSync('python3', [script], {
    input: JSON.stringify(request),
    encoding: 'utf8',
  });
  assert.equal(status, 0, stderr);
  return JSON.parse(stdout);
}

const { root, intermediate } = makeFamily();
const options = optionsWith({ bundle: parseTrustBundle(root.pem) });
const kinds: readonly (readonly [KeyKind, readonly string[]])[] = [
  ['P-256', ['ES256']],
  ['P-384', ['ES384']],
  ['P-521', ['ES512']],
  ['RSA-2048', ['RS256', 'RS384', 'RS512']],
];
const signers = kinds.map(([kind, algorithms]) => {
  const svid = issue({ subject: 'O=SPIRE', issuer: intermediate, keys: makeKeys(kind), extensions: svidExtensions() });
  return { key: keyPem(svid), chain: svid.pem + intermediate.pem, algorithms };
});

/** Every sort of text, name and number that canonical forms differ on. */
const odd: JsonObject = {
  name: 'Cafe\u0301 <&> \u2028\u007f"\\/',
  '\u{1f600}': 1,
  '\uff01': 2,
  10: 'ten',
  9: 'nine',
  numbers: [
    0.000001, 1e-7, 1e21, 123456789012345680000, -1.5, 5e-324, 1.7976931348623157e308, 333333333.3333333, 0.1, 100,
  ],
  empties: [null, '', [], {}, false, 0],
  controls: '\u0000\b\t\n\f\r\u001f',
};
const cards = [
  odd,
  ...['parse/a2a-0.3.json', 'parse/a2a-1.0.json', 'parse/wrong-types.json'].map((file) => cardIn(bytesOf(file))),
];

test('SG-01: cards signed by an independent program are verified, with every algorithm', { skip }, () => {
  const requests = signers.flatMap(({ key, chain, algorithms }) =>
    algorithms.flatMap((alg) => cards.map((card) => ({ key, chain, alg, card }))),
  );
  const signed = python({ do: 'sign', cards: requests }) as readonly JsonObject[];
  assert.equal(signed.length, requests.length);
  for (const [at, card] of signed.entries()) {
    const result = verdictOn(bodyOf(card), options);
    assert.ok(result.isValid && result.isBound, JSON.stringify(result));
    assert.equal(result.algorithm, requests[at]?.alg);
    assert.equal(result.profile, 'jcs');
  }
});

test('SG-02: cards signed by us are verified by an independent program, and changed ones are not', { skip }, () => {
  const signed = signers.flatMap(({ key, chain }) => cards.map((card) => signCard(bodyOf(card), { key, chain }).card));
  const changed = signed.map((card) => ({ ...card, name: 'changed' }));
  const answers = python({ do: 'verify', cards: [...signed, ...changed] });
  assert.deepEqual(answers, [...signed.map(() => true), ...changed.map(() => false)]);
});
