/** Why a signature does not verify, and what to do. */

import type { SignatureReason } from '../../../runtime/api/conditions.ts';
import type { Meanings } from './meanings.ts';

export const signatureMeanings: Meanings<SignatureReason> = {
  'malformed-json':
    'The card is no JSON, not UTF-8, not one object, or has a text or number that not every parser reads alike. The detail has the line; repair what writes the card.',
  'duplicate-member':
    'A member occurs twice in one object of the card or of the protected header. Remove one of them: parsers disagree about which counts.',
  'limit-exceeded':
    'More than 1 MiB, 64 levels, 8 signatures, or 8 certificates. Make the card smaller; remove old signatures and needless certificates.',
  'no-signature': 'The card has no usable list of signatures. Sign it, and see that the agent serves the signed file.',
  'malformed-signature':
    'An entry of `signatures` is not what RFC 7515 asks for: no base64url without padding, no object, a name in both headers. Sign again; look for a proxy that rewrites the card.',
  'crit-not-supported': 'A header has `crit` or `b64`. Sign without these extensions.',
  'alg-not-allowed':
    '`alg` is missing or none of RS256, RS384, RS512, ES256, ES384 and ES512. Use ES256 or RS256; `PS*`, `HS*`, `none` and EdDSA are refused.',
  'alg-key-mismatch':
    "The leaf's key is of another kind or curve than `alg` needs. ES256 goes with P-256, ES384 with P-384, ES512 with P-521, RS* with RSA.",
  'x5c-missing':
    "The protected header has no certificates, so the key cannot be traced to the bundle. Put the SVID's chain into `x5c`; `jku` and `kid` are not enough.",
  'x5c-malformed':
    'An entry of `x5c` is not exactly one certificate in plain base64 DER, or the chain is too long. No PEM, no line breaks, no base64url; version 3; no extension twice; leaf first.',
  'no-trust-anchors':
    "The trust bundle holds no certificate that may end a chain. Look at the bundle's ConfigMap; an empty one is normal until SPIRE has started.",
  'untrusted-chain':
    'The chain is out of order, lacks an intermediate, or ends at no certificate of the bundle: another SPIRE, or a root that was removed. Leaf first, then each issuer; after a rotation of the root sign again.',
  expired: 'A certificate of the chain has ended. Sign again with the present SVID, before it ends.',
  'not-yet-valid':
    'A certificate of the chain is valid only later; the operator judges it again each minute. Compare the clocks; there is no leeway.',
  'weak-key': 'RSA under 2048 bits, or a key of another kind in an authority. Issue with P-256 or RSA-2048 and more.',
  'weak-signature-algorithm':
    'A certificate is signed with SHA-1, MD5 or something unknown. Issue it with SHA-256 and more.',
  'unsupported-critical-extension':
    'A certificate has a critical extension that is not understood. Issue it without, or not critical.',
  'intermediate-not-ca':
    "An issuer in the chain is no certificate authority. A workload's certificate cannot issue others; give the real intermediate.",
  'pathlen-violated':
    'An authority allows fewer authorities below it than there are. Shorten the chain or issue the authority anew.',
  'name-constraints':
    'An authority may not issue for such names. Sign with an SVID of the trust domain that it is for.',
  'leaf-is-ca': "The first certificate is an authority. Sign with the workload's SVID, and list it first.",
  'leaf-key-usage':
    'The leaf has no key usage, or not for digital signatures, or may sign certificates. Use an X.509-SVID as SPIRE issues it.',
  'spiffe-id-invalid':
    'The leaf has no URI or several, or it is no SPIFFE ID with a path. Use an X.509-SVID; the ID is lower case, without query, dots or a final slash.',
  'signature-invalid': 'The signature has not the form of its algorithm. ECDSA as r and s, not DER; not cut off.',
  'payload-mismatch':
    'The signature is not one over this card by this key: the card was changed after it was signed, or the key is another. Sign what is served.',
};
