/** A real Keycloak with a realm of agents and tools, and the sidecar's rules as its program puts them together. */

import { type TestContext, after } from 'node:test';
import { systemClock } from '../../runtime/engine/clock.ts';
import { createLog } from '../../runtime/engine/log.ts';
import { createMetrics } from '../../runtime/engine/metrics.ts';
import type { Decision, RequestHead } from '../../runtime/sidecar/decision.ts';
import { createIdpClient } from '../../runtime/sidecar/idp/fetch.ts';
import { defaultBypassPaths } from '../../runtime/config/bypass-paths.ts';
import { createBypass } from '../../runtime/sidecar/inbound/bypass.ts';
import { createInbound, type InboundOptions } from '../../runtime/sidecar/inbound/decide.ts';
import { createKeeper, type KeeperOptions } from '../../runtime/sidecar/inbound/keeper.ts';
import { createVerified } from '../../runtime/sidecar/inbound/verified.ts';
import { createAddresses } from '../../runtime/sidecar/outbound/addresses.ts';
import { createTokenCache } from '../../runtime/sidecar/outbound/cache.ts';
import { createOutbound } from '../../runtime/sidecar/outbound/decide.ts';
import { createTokenFetcher, type TokenFetcherOptions } from '../../runtime/sidecar/outbound/fetch.ts';
import { readRoutes } from '../../runtime/sidecar/outbound/routes.ts';
import type { ClientCredentials } from '../lab/keycloak/admin.ts';
import { type Keycloak, type KeycloakOptions, startKeycloak } from '../lab/keycloak/keycloak.ts';

/** One Keycloak for a test file; it starts with the file and ends after its tests. */
export async function keycloakForFile(options: KeycloakOptions = {}): Promise<Keycloak> {
  const keycloak = await startKeycloak(options);
  after(() => keycloak.stop());
  return keycloak;
}

export interface Realm {
  readonly name: string;
  readonly issuer: string;
  readonly tokenUrl: string;
  readonly jwksUrl: string;
  /** Its tokens are for `agent-a`. */
  readonly caller: ClientCredentials;
  /** May exchange, and ask for the scope `tool-aud`, which puts `tool-x` into the audience. */
  readonly agent: ClientCredentials;
  /** Its tokens are for nobody. */
  readonly stranger: ClientCredentials;
}

let realms = 0;

/** A realm of a test's own. */
export async function makeRealm({ admin }: Keycloak): Promise<Realm> {
  const name = `lab-${(realms += 1)}`;
  const issuer = await admin.createRealm(name);
  await admin.createAudienceScope(name, 'agent-aud', 'agent-a');
  await admin.createAudienceScope(name, 'tool-aud', 'tool-x');
  await admin.createClient(name, { id: 'tool-x' });
  await admin.createClient(name, { id: 'tool-y' });
  const agent = await admin.createClient(name, { id: 'agent-a', mayExchange: true, optionalScopes: ['tool-aud'] });
  const caller = await admin.createClient(name, { id: 'caller', defaultScopes: ['agent-aud'] });
  const stranger = await admin.createClient(name, { id: 'stranger' });
  const endpoint = `${issuer}/protocol/openid-connect`;
  return { name, issuer, tokenUrl: `${endpoint}/token`, jwksUrl: `${endpoint}/certs`, caller, agent, stranger };
}

const noSignal = new AbortController().signal;

function parts(t: TestContext) {
  const client = createIdpClient();
  t.after(() => client.close());
  const metrics = createMetrics({ process: false });
  return { client, clock: systemClock, metrics, log: createLog({ level: 'silent', name: 'test' }) };
}

export const told = (decision: Decision): string =>
  decision.kind === 'pass' ? decision.reason : `${decision.status} ${decision.error} ${decision.reason}`;

type Headers = Readonly<Record<string, string>>;

/** A request without a body. */
export function head(direction: RequestHead['direction'], authority: string, headers: Headers): RequestHead {
  return {
    direction,
    method: 'GET',
    path: '/',
    authority,
    destination: { address: '10.0.0.7', port: 8000 },
    source: { address: '10.0.0.9', port: 40_000 },
    isTls: false,
    peer: undefined,
    values: (name) => [headers[name] ?? []].flat(),
  };
}

export const bearer = (token: string): Headers => ({ authorization: `Bearer ${token}` });

/** The inbound rules of `agent-a`; `ask` says in a line what becomes of a request with this token. */
export function inbound(
  t: TestContext,
  { issuer, jwksUrl }: Realm,
  wish: Partial<KeeperOptions & InboundOptions> = {},
) {
  const base = parts(t);
  const keeper = createKeeper({ ...base, url: jwksUrl, ...wish });
  keeper.start();
  t.after(() => keeper.stop());
  const decide = createInbound({
    ...base,
    issuer,
    audiences: [],
    clientId: () => ({ kind: 'known', id: 'agent-a' }),
    bypass: createBypass(defaultBypassPaths, []),
    keeper,
    verified: createVerified(),
    isMtlsRequired: false,
    ...wish,
  });
  const ask = async (token: string) => told(await decide(head('inbound', 'agent-a', bearer(token)), noSignal));
  return { ask, keeper };
}

/** The outbound rules of `agent-a`, with one route, whose host is anywhere. */
export function outbound(
  t: TestContext,
  realm: Realm,
  wish: { readonly route: object } & Partial<TokenFetcherOptions>,
) {
  const base = parts(t);
  const read = readRoutes(JSON.stringify([{ host: 'tool', ...wish.route }]));
  if ('problem' in read) throw new Error(read.problem);
  const fetchToken = createTokenFetcher({
    ...base,
    tokenUrl: realm.tokenUrl,
    auth: () => ({ method: 'client_secret_basic', ...realm.agent }),
    ...wish,
  });
  const decide = createOutbound({
    issuer: realm.issuer,
    routes: read.value,
    fallback: undefined,
    tokenFor: createTokenCache({ ...base, fetchToken, clientId: () => realm.agent.id }),
    placeOf: createAddresses({ clock: systemClock, resolve: async () => ['10.0.0.7'] }),
    mtls: { mode: 'disabled', unavailable: () => undefined },
    clock: systemClock,
  });
  const decision = async (headers: Headers) => decide(head('outbound', 'tool', headers), noSignal);
  return { decision, ask: async (token: string) => told(await decision(bearer(token))), metrics: base.metrics };
}

/** Claims of the token that a decision sends on. */
export function sentClaims(decision: Decision): Readonly<Record<string, unknown>> {
  const sent = decision.kind === 'pass' ? decision.set?.['authorization'] : undefined;
  const payload = sent?.replace('Bearer ', '').split('.')[1];
  if (payload === undefined) throw new Error(`no token is sent: ${told(decision)}`);
  return JSON.parse(Buffer.from(payload, 'base64url').toString()) as Readonly<Record<string, unknown>>;
}
