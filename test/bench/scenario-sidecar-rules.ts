/** The sidecar's rules in this process: what a request costs before Envoy and the network are counted. */

import { generateKeyPairSync } from 'node:crypto';
import { exportJWK, SignJWT } from 'jose';
import { systemClock } from '../../runtime/engine/clock.ts';
import { createMetrics } from '../../runtime/engine/metrics.ts';
import type { Decide, RequestHead } from '../../runtime/sidecar/decision.ts';
import { defaultBypassPaths } from '../../runtime/config/bypass-paths.ts';
import { createBypass } from '../../runtime/sidecar/inbound/bypass.ts';
import { createInbound } from '../../runtime/sidecar/inbound/decide.ts';
import { readKeySet } from '../../runtime/sidecar/inbound/jwks.ts';
import { createVerified } from '../../runtime/sidecar/inbound/verified.ts';
import { createAddresses } from '../../runtime/sidecar/outbound/addresses.ts';
import { createTokenCache } from '../../runtime/sidecar/outbound/cache.ts';
import { createOutbound } from '../../runtime/sidecar/outbound/decide.ts';
import { readRoutes, routeOf } from '../../runtime/sidecar/outbound/routes.ts';
import type { Figure, Finding } from './figures.ts';
import { microseconds } from './micro.ts';
import type { World } from './world.ts';

const issuer = 'https://idp.example/realms/team1';
const noSignal = new AbortController().signal;

/** A token of about the size of Keycloak's, which names a user's roles. */
async function keycloakLike() {
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

function head(authority: string, path: string, token: string): RequestHead {
  return {
    direction: 'inbound',
    method: 'GET',
    path,
    authority,
    destination: { address: '10.0.0.7', port: 8000 },
    source: { address: '10.0.0.9', port: 40_000 },
    isTls: false,
    peer: undefined,
    values: (name) => (name === 'authorization' ? [`Bearer ${token}`] : []),
  };
}

type Made = Awaited<ReturnType<typeof keycloakLike>>;

function inboundRules({ keys }: Made, remembered: number): Decide {
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

/** A hundred routes of which the last matches: the longest way through a large table. */
function manyRoutes() {
  const rows = Array.from({ length: 99 }, (_, i) => ({ host: `*.team${i}.svc.cluster.local`, audience: `tool-${i}` }));
  const read = readRoutes(JSON.stringify([...rows, { host: '**.tools.svc.cluster.local', audience: 'tool-x' }]));
  if ('problem' in read) throw new Error(read.problem);
  return read.value;
}

function outboundRules(): Decide {
  const clock = systemClock;
  return createOutbound({
    issuer,
    routes: manyRoutes(),
    fallback: undefined,
    tokenFor: createTokenCache({
      fetchToken: async () => ({ kind: 'token', token: 'x'.repeat(900), lifeSeconds: 3_600 }),
      clientId: () => 'agent-a',
      clock,
      metrics: createMetrics({ process: false }),
    }),
    placeOf: createAddresses({ resolve: async () => ['10.0.0.7'], clock, ttlMs: 3_600_000 }),
    mtls: { mode: 'disabled', unavailable: () => undefined },
    clock,
  });
}

/** Microseconds a decision, one after another; what is decided at once is not waited for. */
async function eachTakes(calls: number, decide: Decide, request: RequestHead): Promise<number> {
  const rounds: number[] = [];
  for (let round = 0; round < 8; round += 1) {
    const begun = performance.now();
    for (let call = 0; call < calls; call += 1) {
      const decision = decide(request, noSignal);
      if (decision instanceof Promise) await decision;
    }
    rounds.push(((performance.now() - begun) * 1000) / calls);
  }
  return rounds.slice(1).sort((a, b) => a - b)[3] ?? Number.NaN;
}

export async function measureSidecarRules(world: World): Promise<Finding> {
  world.say('sidecar: rules');
  const made = await keycloakLike();
  const { token } = made;
  const host = 'search.tools.svc.cluster.local';
  const routes = manyRoutes();
  const few = world.size(2_000);
  const many = world.size(20_000);
  const figure = (what: string, value: number): Figure => ({ what, value, unit: 'µs' });
  return {
    title: 'sidecar: rules',
    how: `In this process, after warming up; medians of seven rounds. The token is signed with RS256 and has ${token.length} characters; the table has 100 routes, of which the last matches.`,
    figures: [
      figure('inbound, open path', await eachTakes(many, inboundRules(made, 10), head('a', '/healthz', token))),
      figure('inbound, token verified before', await eachTakes(many, inboundRules(made, 10), head('a', '/', token))),
      figure('inbound, token not seen before', await eachTakes(few, inboundRules(made, 0), head('a', '/', token))),
      figure(
        'outbound, host among 100 routes',
        microseconds(many, () => routeOf(routes, host)),
      ),
      figure(
        'outbound, no route and no token of ours',
        await eachTakes(many, outboundRules(), head('a.b', '/', 'sk-1')),
      ),
      figure('outbound, token exchanged before', await eachTakes(many, outboundRules(), head(host, '/', token))),
    ],
  };
}
