/** Paths: order, anchors, dates; for each rule a chain that breaks only that rule, and those that look odd and are good. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { certificateOf } from '../../../runtime/signature/certificate.ts';
import { isRefusal } from '../../../runtime/signature/refusal.ts';
import { below, intermediate, leaf, outcome, type PathCase, root, expectPaths } from './paths.ts';
import { base64Of, caExtensions, issue, makeKeys, svidExtensions } from './pki.ts';

const other = issue({ subject: 'O=other', extensions: caExtensions() });
const sameKeyRoot = issue({
  subject: root.subject,
  keys: root.keys,
  notAfter: '2026-06-01T00:00:00Z',
  extensions: caExtensions(),
});
const longRoot = issue({
  subject: root.subject,
  keys: root.keys,
  notAfter: '2040-01-01T00:00:00Z',
  extensions: caExtensions(),
});

expectPaths([
  { because: 'leaf, intermediate, root in the bundle', x5c: [leaf, intermediate], bundle: [root], length: 3 },
  { because: 'the anchor may be repeated at the end', x5c: [leaf, intermediate, root], bundle: [root], length: 3 },
  { because: 'and more than once', x5c: [leaf, intermediate, root, root], bundle: [root], length: 3 },
  {
    because: 'the path ends at the first anchor',
    x5c: [leaf, intermediate, root],
    bundle: [intermediate, root],
    length: 2,
  },
  { because: 'an intermediate can be the anchor', x5c: [leaf], bundle: [intermediate], length: 2 },
  {
    because: 'what follows the anchor must be an anchor',
    x5c: [leaf, intermediate, root],
    bundle: [intermediate],
    reason: 'untrusted-chain',
  },
  {
    because: 'an anchor that issued nothing in the chain is left over',
    x5c: [leaf, intermediate, other],
    bundle: [root, other],
    reason: 'untrusted-chain',
  },
  {
    because: 'the order of x5c is taken literally',
    x5c: [leaf, root, intermediate],
    bundle: [root],
    reason: 'untrusted-chain',
  },
  { because: 'the intermediate is missing', x5c: [leaf], bundle: [root], reason: 'untrusted-chain' },
  {
    because: 'the root is not in the bundle',
    x5c: [leaf, intermediate, root],
    bundle: [other],
    reason: 'untrusted-chain',
  },
  { because: 'the bundle is empty', x5c: [leaf, intermediate], bundle: [], reason: 'no-trust-anchors' },
  { because: 'an authority does not sign cards', x5c: [intermediate], bundle: [root], reason: 'leaf-is-ca' },
  { because: 'nor does the anchor', x5c: [root], bundle: [root], reason: 'leaf-is-ca' },
  {
    because: 'of anchors with one name and key the one valid now counts',
    x5c: [leaf, intermediate],
    bundle: [sameKeyRoot, root],
    length: 3,
  },
  {
    because: 'also when the expired one is repeated in x5c',
    x5c: [leaf, intermediate, sameKeyRoot],
    bundle: [sameKeyRoot, root],
    length: 3,
  },
  { because: 'an expired anchor alone is none', x5c: [leaf, intermediate], bundle: [sameKeyRoot], reason: 'expired' },
  {
    because: 'eight certificates are looked at',
    x5c: Array.from({ length: 9 }, () => leaf),
    bundle: [root],
    reason: 'limit-exceeded',
  },
  { because: 'text that is no base64', x5c: ['*'], bundle: [root], reason: 'x5c-malformed' },
  { because: 'base64 of no certificate', x5c: ['AAAA'], bundle: [root], reason: 'x5c-malformed' },
  { because: 'an empty text', x5c: [''], bundle: [root], reason: 'x5c-malformed' },
  {
    because: 'bytes after the certificate',
    x5c: [Buffer.concat([leaf.der, Buffer.from([0])]).toString('base64'), ...base64Of(intermediate)],
    bundle: [root],
    reason: 'x5c-malformed',
  },
  {
    because: 'one entry is one certificate',
    x5c: [`${base64Of(leaf)[0]},${base64Of(intermediate)[0]}`],
    bundle: [root],
    reason: 'x5c-malformed',
  },
]);

test('an anchor with a SHA-1 signature, sent or not, ends a path', () => {
  const authority = issue({
    subject: 'O=old',
    keys: makeKeys('RSA-2048'),
    hash: 'sha1',
    extensions: caExtensions(),
  });
  const svid = issue({ subject: 'O=SPIRE', issuer: authority, extensions: svidExtensions() });
  for (const x5c of [[svid], [svid, authority]]) {
    assert.ok(!isRefusal(outcome({ x5c, bundle: [authority] })));
  }
});

test('dates are judged at every use of a remembered path, and its end is the first end in it', () => {
  const [svid, authority] = below({ notAfter: '2026-12-15T12:30:00Z' }, { notAfter: '2026-12-15T13:00:00Z' });
  const given: Omit<PathCase, 'because'> = { x5c: [svid, authority], bundle: [root] };
  const good = outcome(given);
  assert.ok(!isRefusal(good));
  assert.equal(new Date(good.expires).toISOString(), '2026-12-15T12:30:00.000Z');
  const late = outcome({ ...given, at: new Date('2026-12-15T12:30:01Z') });
  assert.equal(isRefusal(late) && late.reason, 'expired');
  assert.ok(!isRefusal(outcome(given)));
});

test('of several good anchors the one that is valid longest ends the path', () => {
  const result = outcome({ x5c: [leaf, intermediate], bundle: [root, longRoot] });
  assert.ok(!isRefusal(result));
  assert.equal(
    result.certificates.at(-1)?.fingerprint,
    (certificateOf(longRoot.der) as { fingerprint: string }).fingerprint,
  );
});
