/** An issuer with keys of its own, and requests as Envoy tells of them. */

import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { exportJWK, type JWK, SignJWT } from 'jose';
import type { RequestHead } from '../../../../runtime/sidecar/decision.ts';

export const issuer = 'https://idp.example/realms/team1';
export const now = new Date('2026-01-02T03:04:05.000Z');
export const nowSeconds = now.getTime() / 1000;

export interface TestKey {
  readonly kid: string;
  readonly alg: string;
  readonly privateKey: KeyObject;
  readonly jwk: JWK;
}

const made = {
  RS256: () => generateKeyPairSync('rsa', { modulusLength: 2048 }),
  PS384: () => generateKeyPairSync('rsa', { modulusLength: 2048 }),
  ES256: () => generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  ES512: () => generateKeyPairSync('ec', { namedCurve: 'P-521' }),
  EdDSA: () => generateKeyPairSync('ed25519'),
};

export type TestAlgorithm = keyof typeof made;

export async function testKey(kid: string, alg: TestAlgorithm = 'ES256'): Promise<TestKey> {
  const { publicKey, privateKey } = made[alg]();
  return { kid, alg, privateKey, jwk: { ...(await exportJWK(publicKey)), kid, alg, use: 'sig' } };
}

export const jwksOf = (...keys: readonly TestKey[]): Buffer =>
  Buffer.from(JSON.stringify({ keys: keys.map(({ jwk }) => jwk) }));

/** Claims of a token that is good for `agent-a`. */
export const goodClaims = {
  iss: issuer,
  aud: ['agent-a', 'account'],
  sub: 'user-1',
  iat: nowSeconds - 10,
  exp: nowSeconds + 300,
  typ: 'Bearer',
};

export interface TokenWish {
  /** Changes to the good claims; undefined takes one away. */
  readonly claims?: Readonly<Record<string, unknown>>;
  /** Changes to the header. */
  readonly header?: Readonly<Record<string, unknown>>;
}

export function signed(
  { kid, alg, privateKey }: TestKey,
  { claims = {}, header = {} }: TokenWish = {},
): Promise<string> {
  const payload = Object.fromEntries(Object.entries({ ...goodClaims, ...claims }).filter(([, it]) => it !== undefined));
  return new SignJWT(payload).setProtectedHeader({ alg, kid, typ: 'JWT', ...header }).sign(privateKey);
}

export interface HeadWish extends Partial<Omit<RequestHead, 'values'>> {
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
}

/** An inbound GET of `/` on port 8000, changed as asked. */
export function head({ headers = {}, ...rest }: HeadWish = {}): RequestHead {
  return {
    direction: 'inbound',
    method: 'GET',
    path: '/',
    authority: 'agent-a:8000',
    destination: { address: '10.0.0.7', port: 8000 },
    source: { address: '10.0.0.9', port: 40_000 },
    isTls: false,
    peer: undefined,
    values: (name) => [headers[name] ?? []].flat(),
    ...rest,
  };
}

export const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
