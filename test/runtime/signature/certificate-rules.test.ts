/** What is demanded of each certificate by its place: one case a rule. */

import { extension, oid, sequence, tlv } from './der-writer.ts';
import { below, intermediate, leaf, root, expectPaths } from './paths.ts';
import { basicConstraints, caExtensions, issue, keyUsage, makeKeys, svidExtensions, uris, usage } from './pki.ts';

const nothing = tlv(0x05);
const example = 'spiffe://example.org/ns/a/sa/b';

expectPaths([
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
    because: 'BER within a name',
    x5c: below({}, { encodedSubject: sequence(Buffer.from('318100', 'hex')) }),
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
    bundle: [issue({ subject: root.subject, keys: root.keys, extensions: [] })],
    reason: 'intermediate-not-ca',
  },
]);
