/** The algorithms a token may be signed with. All are asymmetric: with a shared secret whoever can check a token could make one. */

/** RFC 7518 section 3.1 without `none` and HS*, and EdDSA by both of its names (RFC 8037, RFC 9864). */
export const tokenAlgorithms: readonly string[] = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
];
