/** The settings an injected sidecar reads from its environment: one table of variable → configuration, for literals and for the ConfigMap alike. */

import type { Effective } from './layers.ts';
import type { PlatformConfig } from './platform.ts';

/** One variable: which configuration it comes from, and how that is written as text. */
export interface AuthBridgeSetting {
  /** Name of the variable and key in the ConfigMap. */
  readonly name: string;
  /** Dotted paths of the values it is made of. */
  readonly paths: (config: PlatformConfig) => readonly string[];
  /** Empty: the variable is not set. */
  readonly value: (config: PlatformConfig) => string;
}

/**
 * The settings, in the order of the environment. Lists: audiences as a JSON array (an audience may hold any character), scopes separated by
 * blanks (RFC 6749, section 3.3). What decides a pod's shape (mode, mTLS, the SPIFFE socket) is not here: it is always a literal.
 */
export const authBridgeSettings: readonly AuthBridgeSetting[] = Object.freeze([
  setting('KEYCLOAK_URL', ['identity.url'], ({ identity }) => identity.url),
  setting('KEYCLOAK_REALM', ['identity.realm'], ({ identity }) => identity.realm),
  derived('ISSUER', 'identity.issuer', ({ identity }) => identity.issuer, realmUrl),
  derived('JWKS_URL', 'identity.jwksUrl', ({ identity }) => identity.jwksUrl, endpoint('certs')),
  derived('TOKEN_URL', 'tokenExchange.tokenUrl', ({ tokenExchange }) => tokenExchange.tokenUrl, endpoint('token')),
  setting('IDP_CA', ['identity.ca'], ({ identity }) => identity.ca.trim()),
  setting('CLOCK_SKEW_SECONDS', ['identity.clockSkewSeconds'], ({ identity }) => String(identity.clockSkewSeconds)),
  setting('BYPASS_PATHS', ['identity.bypassPaths'], ({ identity }) => JSON.stringify(identity.bypassPaths)),
  setting('CLIENT_AUTH', ['identity.clientAuth'], ({ identity }) => identity.clientAuth),
  setting('ALLOWED_AUDIENCES', ['identity.allowedAudiences'], ({ identity }) => jsonList(identity.allowedAudiences)),
  setting('TARGET_AUDIENCE', ['tokenExchange.audience'], ({ tokenExchange }) => tokenExchange.audience),
  setting('TARGET_SCOPES', ['tokenExchange.scopes'], ({ tokenExchange }) => tokenExchange.scopes.join(' ')),
  setting('ROUTES', ['tokenExchange.routes'], ({ tokenExchange }) => JSON.stringify(tokenExchange.routes)),
  setting('PLAIN_TCP', ['proxy.plainTcp', 'proxy.plainTcpPorts'], ({ proxy }) =>
    proxy.plainTcp === 'allow' ? 'allow' : JSON.stringify(proxy.plainTcpPorts),
  ),
  setting('SPIFFE_TRUST_DOMAIN', ['spiffe.trustDomain'], ({ spiffe }) => spiffe.trustDomain),
  setting('OTEL_EXPORTER_OTLP_ENDPOINT', ['trace.endpoint'], traceEndpoint),
  setting('OTEL_EXPORTER_OTLP_PROTOCOL', ['trace.protocol'], ({ trace }) =>
    trace.protocol === 'grpc' ? 'grpc' : 'http/protobuf',
  ),
  setting('OTEL_TRACES_SAMPLER', ['trace.sampling.type'], ({ trace }) => samplers[trace.sampling.type]),
  setting('OTEL_TRACES_SAMPLER_ARG', ['trace.sampling.rate'], ({ trace }) => String(trace.sampling.rate)),
]);

/**
 * The data of the ConfigMap that injected environment refers to. Give it the effective values *without* an AgentRuntime's: the ConfigMap serves
 * a whole namespace, and overrides are literals in the pods they concern. Settings without a value are left out.
 */
export function authBridgeData({ config }: Pick<Effective, 'config'>): Readonly<Record<string, string>> {
  const entries = authBridgeSettings.map(({ name, value }) => [name, value(config)] as const);
  return Object.fromEntries(entries.filter(([, value]) => value !== ''));
}

function setting(name: string, paths: readonly string[], value: AuthBridgeSetting['value']): AuthBridgeSetting {
  return { name, paths: () => paths, value };
}

/** A setting of its own, or made from where Keycloak answers. */
function derived(
  name: string,
  path: string,
  own: (config: PlatformConfig) => string,
  otherwise: (config: PlatformConfig) => string,
): AuthBridgeSetting {
  return {
    name,
    paths: (config) => (own(config) === '' ? ['identity.url', 'identity.realm'] : [path]),
    value: (config) => own(config) || otherwise(config),
  };
}

/** Where the cluster reaches Keycloak's realm. */
function realmUrl({ identity }: PlatformConfig): string {
  return `${identity.url.replace(/\/+$/, '')}/realms/${identity.realm}`;
}

function endpoint(name: 'certs' | 'token'): (config: PlatformConfig) => string {
  return (config) => `${realmUrl(config)}/protocol/openid-connect/${name}`;
}

function jsonList(values: readonly unknown[]): string {
  return values.length === 0 ? '' : JSON.stringify(values);
}

/** OpenTelemetry's exporters want a URL; an endpoint without a scheme is plain text. */
function traceEndpoint({ trace }: PlatformConfig): string {
  return /^https?:\/\//.test(trace.endpoint) ? trace.endpoint : `http://${trace.endpoint}`;
}

/** Our words → OpenTelemetry's. `rate` counts for probabilistic alone; the other samplers ignore their argument. */
const samplers: Readonly<Record<PlatformConfig['trace']['sampling']['type'], string>> = Object.freeze({
  probabilistic: 'parentbased_traceidratio',
  always: 'always_on',
  never: 'always_off',
});
