/** Constraints that an authority puts on what is below it: names and the length of the path. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isRefusal } from '../../../runtime/signature/refusal.ts';
import { type Extension, extension, name, sequence, tlv } from './der-writer.ts';
import { below, outcome, root, expectPaths } from './paths.ts';
import { caExtensions, type Issued, issue, svidExtensions, uris } from './pki.ts';

/** GeneralSubtrees of URIs, `[0]` permitted or `[1]` excluded. */
function uriConstraints(kind: 'permitted' | 'excluded', ...hosts: readonly string[]): Extension {
  const trees = hosts.map((host) => sequence(tlv(0x86, Buffer.from(host))));
  return extension('2.5.29.30', sequence(tlv(kind === 'permitted' ? 0xa0 : 0xa1, ...trees)), true);
}
const permitted = (tag: number, base: Uint8Array) =>
  extension('2.5.29.30', sequence(tlv(0xa0, sequence(tlv(tag, base)))), true);
const dnsConstraint = permitted(0x82, Buffer.from('a.test'));
const directoryConstraint = permitted(0xa4, name('O=SPIRE'));
const constrained = (constraint: Extension, ...ids: readonly string[]) =>
  below(
    { extensions: [...caExtensions(), constraint] },
    { extensions: [...svidExtensions().slice(0, 2), uris(...ids)] },
  );
const example = 'spiffe://example.org/ns/a/sa/b';

expectPaths([
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
]);

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
  return [issue({ subject: 'O=SPIRE', issuer: last, extensions: svidExtensions() }), ...line.slice(1).toReversed()];
}

test('path length: authorities below count, those that issued themselves do not, the root’s counts too', () => {
  const reason = (...wishes: readonly Level[]) => {
    const result = outcome({ x5c: authorities(wishes), bundle: [root] });
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
  const result = outcome({ x5c: [svid, between], bundle: [short] });
  assert.equal(isRefusal(result) && result.reason, 'pathlen-violated');
});

test('an authority that issued itself a certificate is not held to its own constraints, the leaf below is', () => {
  const permits = uriConstraints('permitted', 'example.org');
  const authority = issue({ subject: 'CN=a', issuer: root, extensions: [...caExtensions(), permits] });
  const renewed = issue({
    subject: 'CN=a',
    issuer: authority,
    extensions: [...caExtensions(), uris('spiffe://other.test')],
  });
  const reason = (id: string) => {
    const svid = issue({ subject: 'O=SPIRE', issuer: renewed, extensions: svidExtensions(id) });
    const result = outcome({ x5c: [svid, renewed, authority], bundle: [root] });
    return isRefusal(result) ? result.reason : 'good';
  };
  assert.equal(reason('spiffe://example.org/a'), 'good');
  assert.equal(reason('spiffe://other.test/a'), 'name-constraints');
});
