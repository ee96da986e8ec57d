/** The rules for a pod's traffic, put together: whose tokens count, which are made, and what must be there for that. */

import type { Clock } from '../engine/clock.ts';
import type { Health } from '../engine/health.ts';
import type { Live, Log, Metrics } from '../engine/types.ts';
import type { Decide, Direction } from './decision.ts';
import { createIdpClient } from './idp/fetch.ts';
import { createBypass } from './inbound/bypass.ts';
import { type ClientId, createInbound } from './inbound/decide.ts';
import { createKeeper } from './inbound/keeper.ts';
import { createVerified } from './inbound/verified.ts';
import { createAddresses } from './outbound/addresses.ts';
import { createTokenCache } from './outbound/cache.ts';
import { type Assertion, createOwnAuth, type Credentials, noCredentials } from './outbound/credentials.ts';
import { createOutbound } from './outbound/decide.ts';
import { createExplicit, ownFamilyFirst } from './outbound/explicit.ts';
import { createTokenFetcher } from './outbound/fetch.ts';
import { openCredentials } from './outbound/files.ts';
import { openFinder } from './outbound/find.ts';
import { providerRoutes } from './outbound/routes.ts';
import type { ProxySettings } from './settings.ts';
import { type Identity, readyLine } from './spiffe/identity.ts';

export interface TrafficParts {
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly health: Health;
  /** Undefined: the pod has no SPIFFE identity. */
  readonly identity: Identity | undefined;
}

export interface Traffic {
  readonly rules: Readonly<Record<Direction, Decide>>;
  close(): Promise<void>;
}

/** Begins to fetch the issuer's keys and to follow the credentials; neither has to be there. What is missing is a degraded line of health. */
export async function openTraffic(settings: ProxySettings, parts: TrafficParts): Promise<Traffic> {
  const { clock, log, metrics, health, identity } = parts;
  const resolve = await openFinder();
  const asked = { resolve, authorities: settings.idpAuthorities };
  // Two, so that exchanges cannot crowd out the keys.
  const [keyClient, client] = [createIdpClient(asked), createIdpClient(asked)];
  const keeper = createKeeper({ url: settings.jwksUrl, client: keyClient, clock, log, metrics });
  const { credentialsDir: directory } = settings;
  const credentials = directory === undefined ? undefined : await openCredentials({ directory, log });
  const clientId = () => clientIdOf(settings, credentials, identity);
  const auth = createOwnAuth({
    method: settings.clientAuth,
    credentials: () => credentials?.current ?? noCredentials,
    assertion: assertionOf(identity),
    issuer: settings.issuer,
  });
  const fetchToken = createTokenFetcher({ client, clock, log, metrics, auth, tokenUrl: settings.tokenUrl });
  const name = (): string => {
    const own = clientId();
    return own.kind === 'known' ? own.id : '';
  };
  const removals = [
    health.degraded('issuer-keys', () => keeper.outage() ?? keeper.degraded()),
    health.degraded('oauth-client', () => missing(credentials?.current)),
  ];
  const { explicit, ports } = settings;
  const { addresses: own } = settings.pod;
  const routes = [...settings.routes, ...providerRoutes([settings.issuer, settings.tokenUrl, settings.jwksUrl])];
  const placeOf = createAddresses({ resolve: explicit === undefined ? resolve : ownFamilyFirst(resolve, own), clock });
  const outbound = createOutbound({
    issuer: settings.issuer,
    routes,
    fallback: settings.fallback,
    tokenFor: createTokenCache({ fetchToken, clientId: name, clock, metrics }),
    placeOf,
    own,
    mtls: { mode: settings.mtls, unavailable: () => unavailable(settings, identity) },
    clock,
  });
  keeper.start();
  return {
    rules: {
      inbound: createInbound({
        issuer: settings.issuer,
        audiences: settings.audiences,
        clientId,
        bypass: createBypass(settings.bypassPaths, settings.probes),
        keeper,
        verified: createVerified(),
        clock,
        metrics,
        skewSeconds: settings.skewSeconds,
        isMtlsRequired: settings.mtls === 'strict',
      }),
      outbound:
        explicit === undefined ? outbound : createExplicit({ outbound, routes, placeOf, own, port: ports.outbound }),
    },
    close: async () => {
      for (const remove of removals) remove();
      keeper.stop();
      credentials?.stop();
      await Promise.all([keyClient.close(), client.close()]);
    },
  };
}

/** With its SPIFFE identity the client is called by it; else by its file. */
function clientIdOf(
  { clientAuth }: ProxySettings,
  credentials: Live<Credentials> | undefined,
  identity: Identity | undefined,
): ClientId {
  if (credentials?.current.kind === 'held') return { kind: 'known', id: credentials.current.id };
  if (clientAuth === 'jwt-spiffe') {
    const state = identity?.state;
    return state?.kind === 'held' ? { kind: 'known', id: state.svid.spiffeId } : { kind: 'pending' };
  }
  return credentials === undefined ? { kind: 'none' } : { kind: 'pending' };
}

function unavailable({ mtls }: ProxySettings, identity: Identity | undefined): string | undefined {
  if (mtls === 'disabled') return 'mutual TLS is off here (MTLS_MODE), or SPIFFE is';
  return identity === undefined ? 'it has no SPIFFE identity' : readyLine(identity.state);
}

function assertionOf(identity: Identity | undefined): Assertion {
  return (audience) =>
    identity === undefined
      ? Promise.resolve({ unavailable: 'this pod has no SPIFFE identity: SPIFFE_ENDPOINT_SOCKET is not set' })
      : identity.jwt(audience);
}

const missing = (credentials: Credentials | undefined): string | undefined =>
  credentials?.kind === 'missing' ? credentials.why : undefined;
