/** Paths: for each rule a chain that breaks only that rule, and those that look odd and are good. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { certificateOf } from '../../../runtime/signature/certificate.ts';
import { validatePath } from '../../../runtime/signature/chain.ts';
import { isRefusal } from '../../../runtime/signature/refusal.ts';
import { parseTrustBundle } from '../../../runtime/signature/trust-bundle.ts';
import { type Extension, extension, name, oid, sequence, tlv } from './der-writer.ts';
import {
  base64Of,
  basicConstraints,
  caExtensions,
  type Issued,
  issue,
  keyUsage,
  makeFamily,
  makeKeys,
  svidExtensions,
  uris,
  usage,
  type Wish,
} from './pki.ts';
import { now } from './vectors.ts';

interface Case {
  readonly because: string;
  readonly x5c: readonly Issued[] | readonly string[];
  readonly bundle: readonly Issued[];
  /** Undefined: the path is good. */
  readonly reason?: string;
  readonly at?: Date;
  /** How many certificates the path has, anchor included. */
  readonly length?: number;
}

function outcome({ x5c, bundle, at = now }: Case) {
  const texts = x5c.map((each) => (typeof each === 'string' ? each : each.der.toString('base64')));
  const trusted = parseTrustBundle(bundle.map(({ pem }) => pem).join(''));
  return validatePath(texts, trusted, at);
}

const { root, intermediate, leaf } = makeFamily();
const subjects = { root: 'O=SPIRE, CN=root', intermediate: 'O=SPIRE, CN=int' };
const other = issue({ subject: 'O=other', extensions: caExtensions() });

/** An intermediate of the root with a leaf of its own. */
function below(wish: Partial<Wish>, leafWish: Partial<Wish> = {}): readonly [leaf: Issued, intermediate: Issued] {
  const authority = issue({ subject: 'O=SPIRE, CN=int2', issuer: root, extensions: caExtensions(), ...wish });
  const svid = issue({ subject: 'O=SPIRE', issuer: authority, extensions: svidExtensions(), ...leafWish });
  return [svid, authority];
}

/** GeneralSubtrees of URIs, `[0]` permitted or `[1]` excluded. */
function uriConstraints(kind: 'permitted' | 'excluded', ...hosts: readonly string[]): Extension {
  const trees = hosts.map((host) => sequence(tlv(0x86, Buffer.from(host))));
  return extension('2.5.29.30', sequence(tlv(kind === 'permitted' ? 0xa0 : 0xa1, ...trees)), true);
}
const permitted = (tag: number, base: Uint8Array) =>
  extension('2.5.29.30', sequence(tlv(0xa0, sequence(tlv(tag, base)))), true);
const dnsConstraint = permitted(0x82, Buffer.from('a.test'));
const directoryConstraint = permitted(0xa4, name('O=SPIRE'));
const nothing = tlv(0x05);

const sameKeyRoot = issue({
  subject: subjects.root,
  keys: root.keys,
  notAfter: '2026-06-01T00:00:00Z',
  extensions: caExtensions(),
});
const longRoot = issue({
  subject: subjects.root,
  keys: root.keys,
  notAfter: '2040-01-01T00:00:00Z',
  extensions: caExtensions(),
});
const constrained = (constraint: Extension, ...ids: readonly string[]) =>
  below(
    { extensions: [...caExtensions(), constraint] },
    { extensions: [...svidExtensions().slice(0, 2), uris(...ids)] },
  );
const example = 'spiffe://example.org/ns/a/sa/b';

const cases: readonly Case[] = [
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
  {
    because: 'an intermediate without basic constraints',
    x5c: below({ extensions: [keyUsage(usage.keyCertSign)] }),
    bundle: [root],
    reason: 'intermediate-not-ca',
  },
  {
    because: 'an intermediate that says it is none',
    x5c: below({ extensions: [basicConstraints(false), keyUsage(usage.keyCertSign)] }),
    bundle: [root],
    reason: 'intermediate-not-ca',
  },
  {
    because: 'an intermediate that may not sign certificates',
    x5c: below({ extensions: [basicConstraints(true), keyUsage(usage.digitalSignature)] }),
    bundle: [root],
    reason: 'intermediate-not-ca',
  },
  {
    because: 'an intermediate of version 1',
    x5c: below({ version: 0 }),
    bundle: [root],
    reason: 'x5c-malformed',
  },
  {
    because: 'a leaf whose algorithm differs inside and outside',
    x5c: below({}, { outerHash: 'sha512' }),
    bundle: [root],
    reason: 'x5c-malformed',
  },
  {
    because: 'a leaf without key usage',
    x5c: below({}, { extensions: [basicConstraints(false), uris(example)] }),
    bundle: [root],
    reason: 'leaf-key-usage',
  },
  {
    because: 'a leaf that may sign revocation lists',
    x5c: below({}, { extensions: [keyUsage(usage.digitalSignature | usage.cRLSign), uris(example)] }),
    bundle: [root],
    reason: 'leaf-key-usage',
  },
  {
    because: 'extended key usage is not looked at, critical or not',
    x5c: below(
      {},
      { extensions: [...svidExtensions(), extension('2.5.29.37', sequence(oid('1.3.6.1.5.5.7.3.4')), true)] },
    ),
    bundle: [root],
    length: 3,
  },
  {
    because: 'an intermediate without key usage may sign',
    x5c: below({ extensions: [basicConstraints(true)] }),
    bundle: [root],
    length: 3,
  },
  {
    because: 'an intermediate with a weak key',
    x5c: below({ keys: makeKeys('RSA-1024') }),
    bundle: [root],
    reason: 'weak-key',
  },
  {
    because: 'a leaf signed with SHA-1',
    x5c: below({ keys: makeKeys('RSA-2048') }, { hash: 'sha1' }),
    bundle: [root],
    reason: 'weak-signature-algorithm',
  },
  {
    because: 'an intermediate with an unknown critical extension',
    x5c: below({ extensions: [...caExtensions(), extension('1.2.3.4', nothing, true)] }),
    bundle: [root],
    reason: 'unsupported-critical-extension',
  },
  {
    because: 'the same when it is not critical',
    x5c: below({ extensions: [...caExtensions(), extension('1.2.3.4', nothing)] }),
    bundle: [root],
    length: 3,
  },
  {
    because: 'an extension twice',
    x5c: below({ extensions: [...caExtensions(), extension('1.2.3.4', nothing), extension('1.2.3.4', nothing)] }),
    bundle: [root],
    reason: 'x5c-malformed',
  },
  {
    because: 'an extension that is no DER',
    x5c: below({ extensions: [basicConstraints(true), extension('2.5.29.15', Buffer.from('x'), true)] }),
    bundle: [root],
    reason: 'x5c-malformed',
  },
  {
    because: 'an intermediate that ended',
    x5c: below({ notAfter: '2026-12-15T11:59:59Z' }),
    bundle: [root],
    reason: 'expired',
  },
  {
    because: 'an intermediate that ends this very second',
    x5c: below({ notAfter: '2026-12-15T12:00:00Z' }),
    bundle: [root],
    length: 3,
  },
  {
    because: 'an intermediate that begins this very second',
    x5c: below({ notBefore: '2026-12-15T12:00:00Z' }),
    bundle: [root],
    length: 3,
  },
  {
    because: 'an intermediate that begins later',
    x5c: below({ notBefore: '2026-12-15T12:00:01Z' }),
    bundle: [root],
    reason: 'not-yet-valid',
  },
  {
    because: 'an issuer of another name',
    x5c: below({}, { issuerName: 'O=SPIRE, CN=other' }),
    bundle: [root],
    reason: 'untrusted-chain',
  },
  {
    because: 'a leaf that names another key of its issuer',
    x5c: below(
      {},
      { extensions: [...svidExtensions(), extension('2.5.29.35', sequence(tlv(0x80, Buffer.from('other'))))] },
    ),
    bundle: [root],
    reason: 'untrusted-chain',
  },
  {
    because: 'a leaf without a key identifier',
    x5c: below({}, { extensions: [...svidExtensions(), extension('2.5.29.35', sequence())] }),
    bundle: [root],
    length: 3,
  },
  {
    because: 'the root is no authority',
    x5c: [leaf, intermediate],
    bundle: [issue({ subject: subjects.root, keys: root.keys, extensions: [] })],
    reason: 'intermediate-not-ca',
  },
  {
    because: 'permitted URIs',
    x5c: constrained(uriConstraints('permitted', 'example.org'), example),
    bundle: [root],
    length: 3,
  },
  {
    because: 'a permitted domain with a leading period is for hosts below it',
    x5c: constrained(uriConstraints('permitted', '.example.org'), example),
    bundle: [root],
    reason: 'name-constraints',
  },
  {
    because: 'hosts below are within it',
    x5c: constrained(uriConstraints('permitted', 'x.test', '.example.org'), 'spiffe://a.example.org/b'),
    bundle: [root],
    length: 3,
  },
  {
    because: 'other hosts are not permitted',
    x5c: constrained(uriConstraints('permitted', 'other.test'), example),
    bundle: [root],
    reason: 'name-constraints',
  },
  {
    because: 'excluded hosts',
    x5c: constrained(uriConstraints('excluded', 'example.org'), example),
    bundle: [root],
    reason: 'name-constraints',
  },
  {
    because: 'excluded other hosts',
    x5c: constrained(uriConstraints('excluded', 'other.test'), example),
    bundle: [root],
    length: 3,
  },
  {
    because: 'a URI without a host cannot be judged',
    x5c: constrained(uriConstraints('excluded', 'other.test'), 'urn:x:y'),
    bundle: [root],
    reason: 'name-constraints',
  },
  {
    because: 'constraints on DNS names say nothing where there are none',
    x5c: constrained(dnsConstraint, example),
    bundle: [root],
    length: 3,
  },
  {
    because: 'constraints of a kind that is not understood',
    x5c: constrained(directoryConstraint, example),
    bundle: [root],
    reason: 'name-constraints',
  },
];

for (const each of cases) {
  test(`path: ${each.because}: ${each.reason ?? 'good'}`, () => {
    const result = outcome(each);
    if (isRefusal(result)) {
      assert.equal(result.reason, each.reason, result.detail);
      return;
    }
    assert.equal(each.reason, undefined);
    assert.equal(result.certificates.length, each.length);
  });
}

test('an anchor with a SHA-1 signature, sent or not, ends a path', () => {
  const authority = issue({
    subject: 'O=old',
    keys: makeKeys('RSA-2048'),
    hash: 'sha1',
    extensions: caExtensions(),
  });
  const svid = issue({ subject: 'O=SPIRE', issuer: authority, extensions: svidExtensions() });
  for (const x5c of [[svid], [svid, authority]]) {
    assert.ok(!isRefusal(outcome({ because: '', x5c, bundle: [authority] })));
  }
});

interface Level {
  readonly pathLength?: number;
  readonly isSelfIssued?: boolean;
}

/** Authorities below the root, each of the one before. */
function authorities(wishes: readonly Level[]) {
  const line: Issued[] = [root];
  for (const [at, { pathLength, isSelfIssued = false }] of wishes.entries()) {
    const issuer = line.at(-1) ?? root;
    const subject = isSelfIssued ? issuer.subject : `O=SPIRE, CN=level ${at}`;
    line.push(issue({ subject, issuer, extensions: caExtensions(pathLength) }));
  }
  const last = line.at(-1) ?? root;
  return [issue({ subject: 'O=SPIRE', issuer: last, extensions: svidExtensions() }), ...line.slice(1).reverse()];
}

test('path length: authorities below count, those that issued themselves do not, the root’s counts too', () => {
  const reason = (...wishes: readonly Level[]) => {
    const result = outcome({ because: '', x5c: authorities(wishes), bundle: [root] });
    return isRefusal(result) ? result.reason : 'good';
  };
  assert.equal(reason({ pathLength: 0 }), 'good');
  assert.equal(reason({ pathLength: 0 }, {}), 'pathlen-violated');
  assert.equal(reason({ pathLength: 1 }, {}), 'good');
  assert.equal(reason({ pathLength: 1 }, {}, {}), 'pathlen-violated');
  assert.equal(reason({ pathLength: 0 }, { isSelfIssued: true }), 'good');
  const short = issue({ subject: 'O=short', extensions: caExtensions(0) });
  const between = issue({ subject: 'O=between', issuer: short, extensions: caExtensions() });
  const svid = issue({ subject: 'O=SPIRE', issuer: between, extensions: svidExtensions() });
  const result = outcome({ because: '', x5c: [svid, between], bundle: [short] });
  assert.equal(isRefusal(result) && result.reason, 'pathlen-violated');
});

test('dates are judged at every use of a remembered path, and its end is the first end in it', () => {
  const [svid, authority] = below({ notAfter: '2026-12-15T12:30:00Z' }, { notAfter: '2026-12-15T13:00:00Z' });
  const given: Case = { because: '', x5c: [svid, authority], bundle: [root] };
  const good = outcome(given);
  assert.ok(!isRefusal(good));
  assert.equal(new Date(good.expires).toISOString(), '2026-12-15T12:30:00.000Z');
  const late = outcome({ ...given, at: new Date('2026-12-15T12:30:01Z') });
  assert.equal(isRefusal(late) && late.reason, 'expired');
  assert.ok(!isRefusal(outcome(given)));
});

test('of several good anchors the one that is valid longest ends the path', () => {
  const result = outcome({ because: '', x5c: [leaf, intermediate], bundle: [root, longRoot] });
  assert.ok(!isRefusal(result));
  assert.equal(
    result.certificates.at(-1)?.fingerprint,
    (certificateOf(longRoot.der) as { fingerprint: string }).fingerprint,
  );
});
