/** Trust bundles: both formats, what is left out with which sentence, and where in a ConfigMap they are. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { sha256Hex } from '../../../runtime/encoding/digest.ts';
import { bundleText, parseTrustBundle } from '../../../runtime/signature/trust-bundle.ts';
import { jsonOf, textOf } from './vectors.ts';

const pem = textOf('bundles/root-ec.crt');

test('the hash is that of the text, and a text is either PEM or a SPIFFE bundle document', () => {
  assert.equal(parseTrustBundle(pem).hash, sha256Hex(pem));
  const spiffe = textOf('bundles/root-ec.spiffe.json');
  assert.equal(parseTrustBundle(spiffe).anchors[0]?.fingerprint, parseTrustBundle(pem).anchors[0]?.fingerprint);
});

const warned: readonly (readonly [because: string, text: string, warning: RegExp])[] = [
  ['empty', '', /^it is empty$/],
  ['blank', ' \n', /^it is empty$/],
  ['something else', 'hello', /no PEM block CERTIFICATE and is no SPIFFE bundle document/],
  ['a key', '-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n', /no PEM block CERTIFICATE/],
  ['a broken document', '{"keys": [', /no SPIFFE bundle document: it ends too early/],
  ['a document without keys', '{"spiffe_sequence":1}', /no list of keys/],
  ['keys that are no list', '{"keys":{}}', /no list of keys/],
  ['all revoked', '{"keys":[]}', /no key for the use x509-svid: nothing is trusted/],
  ['keys twice', '{"keys":[],"keys":[]}', /the member "keys" occurs twice/],
  ['a key without x5c', '{"keys":[{"use":"x509-svid"}]}', /key 1 is left out: it has no x5c/],
  ['a key whose x5c is no text', '{"keys":[{"use":"x509-svid","x5c":[5]}]}', /key 1 is left out/],
  [
    'a key whose x5c is no certificate',
    '{"keys":[{"use":"x509-svid","x5c":["AAAA"]}]}',
    /key 1 is left out: it is no DER/,
  ],
  ['keys that are nothing', '{"keys":[null,5,"x"]}', /no key for the use/],
];

for (const [because, text, warning] of warned) {
  test(`nothing is trusted: ${because}`, () => {
    const { anchors, warnings } = parseTrustBundle(text);
    assert.deepEqual(anchors, []);
    assert.match(warnings[0] ?? '', warning);
  });
}

test('warnings are bounded', () => {
  const broken = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n'.repeat(1000);
  const { warnings } = parseTrustBundle(broken + pem);
  assert.equal(warnings.length, 21);
  assert.equal(warnings.at(-1), '980 more parts could not be used');
});

test('whatever the text is, reading it does not throw', () => {
  const words = fc.constantFrom(
    '-----BEGIN CERTIFICATE-----',
    '-----END CERTIFICATE-----',
    pem,
    'AAAA',
    '\n',
    '{"keys":[',
    ']}',
    '"x5c"',
  );
  fc.assert(
    fc.property(fc.array(fc.oneof(words, fc.string()), { maxLength: 12 }), (parts) => {
      const { anchors, warnings } = parseTrustBundle(parts.join(''));
      assert.ok(anchors.length > 0 || warnings.length > 0);
    }),
  );
});

test('in a ConfigMap: the key that is asked for, else the usual ones, else the only one', () => {
  const found = (data: Record<string, string>, key = '') => {
    const result = bundleText(data, key);
    return 'problem' in result ? result.problem : result.key;
  };
  assert.equal(found({ 'bundle.crt': 'a', 'bundle.spiffe': 'b', x: 'c' }), 'bundle.crt');
  assert.equal(found({ 'bundle.spiffe': 'b', x: 'c' }), 'bundle.spiffe');
  assert.equal(found({ x: 'c' }), 'x');
  assert.equal(found({ 'bundle.crt': 'a', x: 'c' }, 'x'), 'x');
  assert.equal(found({ 'bundle.crt': '' }), 'bundle.crt');
  assert.equal(found({}), 'none of its keys is known to hold a trust bundle; it holds nothing yet');
  assert.equal(found({ b: '', a: '' }), 'none of its keys is known to hold a trust bundle; it has a, b');
  assert.equal(found({ 'bundle.crt': 'a' }, 'x'), 'it has no key x; it has bundle.crt');
  assert.equal(found({}, 'toString'), 'it has no key toString; it holds nothing yet');
});

test('the anchors of every bundle are distinct', () => {
  for (const { file } of jsonOf('bundles/bundles.json') as readonly { readonly file: string }[]) {
    const { anchors } = parseTrustBundle(textOf(file));
    assert.equal(new Set(anchors.map(({ fingerprint }) => fingerprint)).size, anchors.length);
  }
});
