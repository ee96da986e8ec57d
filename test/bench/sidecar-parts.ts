/** The sidecar's rules as they are measured: an issuer with its key, a token of it, and a large table of routes. */

import { generateKeyPairSync } from 'node:crypto';
import { exportJWK, SignJWT } from 'jose';
import { defaultBypassPaths } from '../../runtime/config/bypass-paths.ts';
import { systemClock } from '../../runtime/engine/clock.ts';
import { createMetrics } from '../../runtime/engine/metrics.ts';
import type { Decide } from '../../runtime/sidecar/decision.ts';
import { createBypass } from '../../runtime/sidecar/inbound/bypass.ts';
import { createInbound } from '../../runtime/sidecar/inbound/decide.ts';
import { readKeySet } from '../../runtime/sidecar/inbound/jwks.ts';
import { createVerified } from '../../runtime/sidecar/inbound/verified.ts';
import { createAddresses } from '../../runtime/sidecar/outbound/addresses.ts';
import { createTokenCache } from '../../runtime/sidecar/outbound/cache.ts';
import { createOutbound } from '../../runtime/sidecar/outbound/decide.ts';
import type { FetchToken } from '../../runtime/sidecar/outbound/fetch.ts';
import { readRoutes } from '../../runtime/sidecar/outbound/routes.ts';

const issuer = 'https://idp.example/realms/team1';

export type Issuer = Awaited<ReturnType<typeof createIssuer>>;

/** The keys of an issuer, and a token of about the size of Keycloak's, which names a user's roles. */
export async function createIssuer() {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const jwk = { ...(await exportJWK(publicKey)), kid: 'k1', alg: 'RS256', use: 'sig' };
  const read = readKeySet(Buffer.from(JSON.stringify({ keys: [jwk] })));
  if ('problem' in read) throw new Error(read.problem);
  const token = await new SignJWT({ realm_access: { roles: ['user', 'x'.repeat(400)] }, azp: 'web', typ: 'Bearer' })
    .setProtectedHeader({ alg: 'RS256', kid: 'k1', typ: 'JWT' })
    .setIssuer(issuer)
    .setAudience('agent-a')
    .setSubject('user-1')
    .setIssuedAt()
    .setExpirationTime('1h')
    .sign(privateKey);
  return { token, keys: read.keys };
}

/** Remembers that many verified tokens; with 0 each is verified as if it came for the first time. */
export function inboundRules({ keys }: Issuer, remembered: number): Decide {
  return createInbound({
    issuer,
    audiences: ['agent-a'],
    clientId: () => ({ kind: 'none' }),
    bypass: createBypass(defaultBypassPaths, []),
    keeper: { keys: () => ({ kind: 'held', ...keys }), refetched: () => Promise.reject(new Error('not asked')) },
    verified: createVerified(remembered),
    clock: systemClock,
    metrics: createMetrics({ process: false }),
    isMtlsRequired: false,
  });
}

/** What the last route of the table matches. */
export const routedHost = 'search.tools.svc.cluster.local';

/** A hundred routes of which the last matches: the longest way through a large table. */
export function manyRoutes() {
  const rows = Array.from({ length: 99 }, (_, i) => ({ host: `*.team${i}.svc.cluster.local`, audience: `tool-${i}` }));
  const read = readRoutes(JSON.stringify([...rows, { host: '**.tools.svc.cluster.local', audience: 'tool-x' }]));
  if ('problem' in read) throw new Error(read.problem);
  return read.value;
}

/** A token endpoint that costs nothing. */
export const givenToken: FetchToken = async () => ({ kind: 'token', token: 'x'.repeat(900), lifeSeconds: 3_600 });

/** Every host is at that address. */
export function outboundRules(fetchToken: FetchToken, address: string): Decide {
  const clock = systemClock;
  return createOutbound({
    issuer,
    routes: manyRoutes(),
    fallback: undefined,
    tokenFor: createTokenCache({
      fetchToken,
      clientId: () => 'agent-a',
      clock,
      metrics: createMetrics({ process: false }),
    }),
    placeOf: createAddresses({ resolve: async () => [address], clock, ttlMs: 3_600_000 }),
    mtls: { mode: 'disabled', unavailable: () => undefined },
    clock,
  });
}
