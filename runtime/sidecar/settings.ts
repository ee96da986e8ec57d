/** What the containers `envoy-proxy` and `spiffe-helper` are told by their environment, which the webhook writes. */

import { Type } from 'typebox';
import { authBridgeModes, mtlsModes } from '../api/agent-runtime.ts';
import { configMaps } from '../api/names.ts';
import { authoritiesProblem } from '../config/authorities.ts';
import { clientAuthMethods } from '../config/platform.ts';
import { type Environment, logLevels, type Reader, readerOf } from './environment.ts';
import type { Explicit, MtlsMode } from './envoy/intent.ts';
import { readJsonSetting, type Setting } from './json-setting.ts';
import { readAudiences } from './inbound/audiences.ts';
import { type Probe, readBypassPaths, readProbes } from './inbound/bypass.ts';
import { mostSkew } from './inbound/decide.ts';
import { readRoutes, type Route, type Target } from './outbound/routes.ts';
import type { ClientAuthMethod } from './outbound/token-request.ts';
import { workloadApiSocket } from './spiffe/socket-path.ts';

/** The Workload API and the trust domain its identities must be of. */
export interface SpiffeSettings {
  readonly socketPath: string;
  readonly trustDomain: string | undefined;
}

export interface PodSettings {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly serviceAccount: string;
  /** Where it is itself. */
  readonly addresses: readonly string[];
}

export interface CommonSettings {
  readonly pod: PodSettings;
  /** Where the kubelet asks for health, and Prometheus for metrics. */
  readonly healthPort: number;
}

export interface HelperSettings extends CommonSettings {
  readonly spiffe: SpiffeSettings;
  readonly directory: string;
  /** Of the JWT-SVID that is written beside the X.509-SVID; none: none is. */
  readonly audiences: readonly string[];
}

export interface RegistrationSettings {
  /** What the agent is called in Keycloak: `namespace/workload`. */
  readonly clientId: string;
  readonly tokenUrl: string;
  /** PEM of authorities that may vouch for the identity provider besides the public ones; empty: none. */
  readonly idpAuthorities: string;
  /** Where its credentials are written. */
  readonly credentialsDir: string;
  /** Where the credentials of whoever may manage clients are. */
  readonly adminCredentialsDir: string;
}

export interface ProxySettings extends CommonSettings {
  /** Undefined: the pod has no SPIFFE identity. */
  readonly spiffe: SpiffeSettings | undefined;
  readonly mtls: MtlsMode;
  /** Undefined: the pod's traffic is captured. */
  readonly explicit: Explicit | undefined;
  readonly ports: { readonly inbound: number; readonly outbound: number; readonly admin: number };
  /** Folder of the sockets, which no other container sees. */
  readonly folder: string;
  /** Path of the Envoy binary. */
  readonly envoy: string;
  readonly accessLog: boolean;
  /** Whose tokens count: compared with `iss`, never asked. */
  readonly issuer: string;
  readonly jwksUrl: string;
  readonly tokenUrl: string;
  /** PEM of authorities that may vouch for the identity provider besides the public ones; empty: none. */
  readonly idpAuthorities: string;
  /** Accepted besides the pod's own client id. */
  readonly audiences: readonly string[];
  readonly skewSeconds: number;
  readonly bypassPaths: readonly string[];
  readonly probes: readonly Probe[];
  readonly routes: readonly Route[];
  /** What a caller's token is exchanged for where no route matches; undefined: such calls are refused. */
  readonly fallback: Target | undefined;
  readonly clientAuth: ClientAuthMethod;
  /** Undefined: no credentials are mounted. */
  readonly credentialsDir: string | undefined;
  /** Ports to which the agent's plain TCP may go; undefined: to all. */
  readonly plainTcpPorts: readonly number[] | undefined;
  /** How long a pod that ends lets requests finish, in milliseconds. */
  readonly drainMs: number;
}

const ports = { least: 1, most: 65_535 };

/** Of `envoy-proxy`. Throws `SettingsInvalid`. */
export function proxySettings(env: Environment): ProxySettings {
  const read = readerOf(env);
  const issuer = read.text('ISSUER');
  const spiffe = spiffeOf(read);
  const mtls = read.oneOf('MTLS_MODE', mtlsModes, 'disabled');
  for (const name of alwaysWritten) if (read.optional(name) === undefined) read.problem(absent(name));
  const clientAuth = read.oneOf('CLIENT_AUTH', clientAuthMethods, 'client-secret');
  if (spiffe === undefined && mtls !== 'disabled') {
    read.problem(`MTLS_MODE is ${mtls}, which needs SPIFFE_ENDPOINT_SOCKET; set mtlsMode: disabled, or turn SPIFFE on`);
  }
  if (spiffe === undefined && clientAuth === 'spiffe') {
    read.problem('CLIENT_AUTH is spiffe, which needs SPIFFE_ENDPOINT_SOCKET; use client-secret, or turn SPIFFE on');
  }
  const settings: ProxySettings = {
    ...common(read),
    spiffe,
    mtls,
    explicit: explicitOf(read),
    ports: {
      inbound: read.number('INBOUND_PORT', ports),
      outbound: read.number('OUTBOUND_PORT', ports),
      admin: read.number('ADMIN_PORT', ports),
    },
    folder: read.text('WORK_DIR', '/run/rossoctl'),
    envoy: read.text('ENVOY_BINARY', '/usr/bin/envoy'),
    accessLog: read.oneOf('ACCESS_LOG', ['on', 'off'], 'on') === 'on',
    issuer,
    jwksUrl: read.text('JWKS_URL', `${issuer}/protocol/openid-connect/certs`),
    tokenUrl: read.text('TOKEN_URL', `${issuer}/protocol/openid-connect/token`),
    idpAuthorities: read.parsed('IDP_CA', readAuthorities) ?? '',
    audiences: audiencesIn(read, 'ALLOWED_AUDIENCES'),
    skewSeconds: read.number('CLOCK_SKEW_SECONDS', { least: 0, most: mostSkew, otherwise: 30 }),
    bypassPaths: read.parsed('BYPASS_PATHS', readBypassPaths) ?? [],
    probes: read.parsed('PROBES', readProbes) ?? [],
    routes: read.parsed('ROUTES', readRoutes) ?? [],
    fallback: fallbackOf(read),
    clientAuth: clientAuth === 'spiffe' ? 'jwt-spiffe' : 'client_secret_basic',
    credentialsDir: read.optional('CREDENTIALS_DIR'),
    plainTcpPorts: read.parsed('PLAIN_TCP', readPlainTcp),
    drainMs: 1_000 * read.number('DRAIN_SECONDS', { least: 1, most: 3_600, otherwise: 25 }),
  };
  read.done();
  return settings;
}

function explicitOf(read: Reader): Explicit | undefined {
  const mode = read.oneOf('AUTHBRIDGE_MODE', authBridgeModes, 'envoy-sidecar');
  const isDeclared = read.optional('APPLICATION_PORT') !== undefined;
  const application = isDeclared ? read.number('APPLICATION_PORT', ports) : undefined;
  const isOutbound = read.oneOf('OUTBOUND_PROXY', ['on', 'off'], 'on') === 'on';
  return mode === 'proxy-sidecar' ? { application, isOutbound } : undefined;
}

/** What is refused or closed is said by these: without them more would be open than is meant. */
const alwaysWritten = ['BYPASS_PATHS', 'ROUTES', 'PLAIN_TCP'];

const absent = (name: string): string =>
  `${name} is not set: key ${name} of ConfigMap ${configMaps.authBridge.name} in this namespace is missing; the operator writes it`;

function readAuthorities(text = ''): Setting<string> {
  const problem = authoritiesProblem(text);
  return problem === undefined ? { value: text } : { problem: `IDP_CA ${problem}` };
}

const portList = Type.Array(Type.Integer({ minimum: 1, maximum: 65_535 }), { maxItems: 32 });

/** `allow`, or a JSON list of ports. */
function readPlainTcp(text: string | undefined): Setting<readonly number[] | undefined> {
  if (text === 'allow') return { value: undefined };
  return readJsonSetting<readonly number[]>('PLAIN_TCP', text, { schema: portList, empty: [], rules: () => [] });
}

/** Of `spiffe-helper`. Throws `SettingsInvalid`. */
export function helperSettings(env: Environment): HelperSettings {
  const read = readerOf(env);
  const spiffe = spiffeOf(read);
  if (spiffe === undefined) read.problem('SPIFFE_ENDPOINT_SOCKET is not set');
  const settings: HelperSettings = {
    ...common(read),
    spiffe: spiffe ?? { socketPath: '', trustDomain: undefined },
    directory: read.text('SVID_DIR', '/etc/rossoctl/svid'),
    audiences: jwtAudiences(read),
  };
  read.done();
  return settings;
}

/** Of `client-registration`. Throws `SettingsInvalid`. */
export function registrationSettings(env: Environment): RegistrationSettings {
  const read = readerOf(env);
  read.oneOf('LOG_LEVEL', logLevels, 'info');
  if (read.oneOf('CLIENT_AUTH', clientAuthMethods, 'client-secret') === 'spiffe') {
    read.problem(
      'CLIENT_AUTH is spiffe, for which there is no secret to register; set clientRegistration.mode: operator',
    );
  }
  const settings: RegistrationSettings = {
    clientId: read.text('CLIENT_ID'),
    tokenUrl: read.text('TOKEN_URL'),
    idpAuthorities: read.parsed('IDP_CA', readAuthorities) ?? '',
    credentialsDir: read.text('CREDENTIALS_DIR'),
    adminCredentialsDir: read.text('ADMIN_CREDENTIALS_DIR'),
  };
  read.done();
  return settings;
}

function common(read: Reader): CommonSettings {
  // The program has read it already, to be able to say what is wrong; here it is only held against what it may be.
  read.oneOf('LOG_LEVEL', logLevels, 'info');
  return {
    pod: {
      namespace: read.text('POD_NAMESPACE'),
      name: read.text('POD_NAME'),
      uid: read.text('POD_UID', '-'),
      serviceAccount: read.text('SERVICE_ACCOUNT', 'default'),
      addresses: (read.optional('POD_IP') ?? '').split(',').filter((address) => address !== ''),
    },
    healthPort: read.number('HEALTH_PORT', ports),
  };
}

function spiffeOf(read: Reader): SpiffeSettings | undefined {
  const text = read.optional('SPIFFE_ENDPOINT_SOCKET');
  if (text === undefined) return undefined;
  const socket = workloadApiSocket(text);
  if ('fault' in socket) read.problem(socket.fault);
  return { socketPath: 'path' in socket ? socket.path : '', trustDomain: read.optional('SPIFFE_TRUST_DOMAIN') };
}

function audiencesIn(read: Reader, name: string): readonly string[] {
  return read.parsed(name, (text) => readAudiences(name, text)) ?? [];
}

/** `JWT_AUDIENCES`; else the issuer, to whom the application may then prove itself without a secret (RFC 7523). */
function jwtAudiences(read: Reader): readonly string[] {
  const given = audiencesIn(read, 'JWT_AUDIENCES');
  const issuer = read.optional('ISSUER');
  return given.length > 0 || issuer === undefined ? given : [issuer];
}

function fallbackOf(read: Reader): Target | undefined {
  const audience = read.optional('TARGET_AUDIENCE') ?? '';
  const scopes = (read.optional('TARGET_SCOPES') ?? '').split(' ').filter((scope) => scope !== '');
  return audience === '' && scopes.length === 0 ? undefined : { audience, scopes, tokenUrl: '' };
}
