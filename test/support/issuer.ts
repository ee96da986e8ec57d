/** An issuer of access tokens with one key, for tests that need no identity provider: its keys are served by whoever wants to. */

import { exportJWK, generateKeyPair, SignJWT } from 'jose';

export interface Issuer {
  /** A JSON Web Key Set. */
  readonly jwks: { readonly keys: readonly object[] };
  /** A token of subject alice, good for an hour. */
  readonly tokenFor: (audience: string) => Promise<string>;
}

export async function createIssuer(name: string): Promise<Issuer> {
  const { publicKey, privateKey } = await generateKeyPair('ES256');
  const kid = 'one';
  return {
    jwks: { keys: [{ ...(await exportJWK(publicKey)), kid, alg: 'ES256', use: 'sig' }] },
    tokenFor: (audience) =>
      new SignJWT({ azp: 'caller' })
        .setProtectedHeader({ alg: 'ES256', kid, typ: 'at+jwt' })
        .setIssuer(name)
        .setSubject('alice')
        .setAudience(audience)
        .setIssuedAt()
        .setExpirationTime('1h')
        .sign(privateKey),
  };
}
