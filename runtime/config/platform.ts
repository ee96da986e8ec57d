/** The one schema of the effective configuration, with its compiled defaults. Namespace defaults and AgentRuntimes set parts of it. */

import { Type } from 'typebox';
import {
  authBridgeModes,
  Endpoint,
  HttpUrl,
  httpUrlPattern,
  mtlsModes,
  Realm,
  TrustDomain,
} from '../api/agent-runtime.ts';
import { oneOf } from '../api/schema.ts';
import { BypassPaths, defaultBypassPaths } from './bypass-paths.ts';
import { frozen } from './frozen.ts';
import { networkPolicyDefaults, NetworkPolicySection } from './network-policy.ts';
import { RouteTexts } from './routes.ts';

const pathPart = '[a-z0-9]+((\\.|_{1,2}|-+)[a-z0-9]+)*';
/** With a reference that the kubelet cannot read, no pod starts. */
export const Image = Type.String({
  minLength: 1,
  maxLength: 512,
  pattern: `^(([A-Za-z0-9][A-Za-z0-9.-]*|\\[[0-9A-Fa-f:]+\\])(:[0-9]{1,5})?/)?${pathPart}(/${pathPart})*(:[A-Za-z0-9_][A-Za-z0-9_.-]{0,127})?(@sha(256:[0-9a-f]{64}|512:[0-9a-f]{128}))?$`,
  description:
    'Image reference: host, path in lower-case letters, tag and digest, without blanks, for example registry.example/name:1.',
});
const socketPart = '[A-Za-z0-9_-][A-Za-z0-9._-]*';
/** Its folder is mounted: none that a node or the sidecars need, and none of ours, which cannot be mounted twice. */
const foldersInUse =
  '(bin|boot|dev|etc|lib|lib32|lib64|proc|root|sbin|sys|usr)/|(var/)?run/(rossoctl/|secrets/|[^/]*$)';
const SocketPath = Type.String({
  // Linux takes socket paths of 107 bytes.
  maxLength: 114,
  pattern: `^unix:///(?!${foldersInUse})${socketPart}(/${socketPart}){2,}$`,
  description:
    'Socket of the Workload API: unix:// and an absolute path of letters, digits, dots, dashes and underscores, no part of which begins with a dot, in a folder at least two levels deep and of its own (not below /etc, /usr and the like, not /run/rossoctl), for example unix:///run/spire/agent-sockets/agent.sock.',
});
const Port = Type.Integer({ minimum: 1024, maximum: 65535 });
/** Requests or limits. A quantity that Kubernetes would refuse would keep every pod from starting, so it is refused here. */
export const Quantities = Type.Unsafe<Readonly<Record<string, string>>>({
  type: 'object',
  maxProperties: 16,
  additionalProperties: {
    type: 'string',
    maxLength: 32,
    pattern: '^[0-9]+(\\.[0-9]+)?([munkMGTPE]|[KMGTPE]i|[eE][-+]?[0-9]+)?$',
    description: 'A Kubernetes quantity, for example 50m, 2 or 128Mi.',
  },
});
const Resources = Type.Object({
  /** What is set aside for the container, by resource. */
  requests: Quantities,
  /** What it may use at most, by resource. */
  limits: Quantities,
});
/** How an agent proves to the identity provider that it is the client it says. */
export const clientAuthMethods = ['client-secret', 'spiffe'] as const;
const Text = (description: string) => Type.String({ minLength: 1, maxLength: 1024, description });

/** An address that follows from others unless it is given. */
const DerivedUrl = (example: string, from: string) =>
  Type.String({
    maxLength: 2048,
    pattern: `^(${httpUrlPattern})?$`,
    description: `An http or https URL without user name, query and fragment, for example ${example}; empty: derived from ${from}.`,
  });

/** Effective configuration: every field has a value. Layers are `DeepPartial` of it; unknown keys are refused with their path. */
export const PlatformConfig = Type.Object({
  images: Type.Object({
    /** Image of the container `envoy-proxy`. One image serves all that is injected; the three settings are for whoever mirrors or tries one alone. */
    envoyProxy: Image,
    /** Image of the init container `proxy-init`: by default the same. */
    proxyInit: Image,
    /** Image of the containers `spiffe-helper` and `client-registration`: by default the same. */
    sidecar: Image,
    /** When the kubelet pulls the images of the injected containers. */
    pullPolicy: oneOf(['Always', 'IfNotPresent', 'Never']),
  }),
  proxy: Type.Object({
    /** Where outbound traffic is redirected to: a first choice. A port the application uses is never taken, the next free one is. */
    outboundPort: Port,
    /** Where inbound traffic is redirected to; a first choice likewise. */
    inboundPort: Port,
    /** Envoy's admin interface, on the loopback address; a first choice likewise. */
    adminPort: Port,
    /** Where the kubelet asks whether the proxy is ready; a first choice likewise. */
    healthPort: Port,
    /** User of the sidecars; an application container must not run as it. */
    uid: Type.Integer({ minimum: 1, maximum: 2147483647 }),
    /** What becomes of outgoing connections that are neither TLS nor HTTP: nothing in them is looked at. `refuse` ends them, but for those to `plainTcpPorts`. */
    plainTcp: oneOf(['allow', 'refuse']),
    /** Ports to which such a connection may go all the same, of databases for example. */
    plainTcpPorts: Type.Array(Type.Integer({ minimum: 1, maximum: 65535 }), { maxItems: 32 }),
  }),
  resources: Type.Object({
    envoyProxy: Resources,
    proxyInit: Resources,
    spiffeHelper: Resources,
    clientRegistration: Resources,
  }),
  authBridge: Type.Object({
    /** How traffic is captured. `proxy-sidecar` has no init container and needs no capability: the application is told of a proxy, and nothing makes it use it. */
    mode: oneOf(authBridgeModes),
  }),
  mtls: Type.Object({
    /** Mutual TLS between agents. `strict` needs SPIFFE. */
    mode: oneOf(mtlsModes),
  }),
  spiffe: Type.Object({
    /** Trust domain of the agents' SPIFFE IDs, and of those that may sign cards. */
    trustDomain: TrustDomain,
    /** Socket of the Workload API, in a folder of its own at least two levels deep. */
    socketPath: SocketPath,
    /** How the socket comes into a pod: `csi` mounts the driver `csi.spiffe.io`, `hostPath` the socket's folder. */
    volume: oneOf(['csi', 'hostPath']),
  }),
  identity: Type.Object({
    /** Kind of the identity provider. */
    provider: oneOf(['keycloak']),
    /** Where the identity provider answers. */
    url: HttpUrl,
    /** Realm in which agents are clients. */
    realm: Realm,
    /** Who makes tokens, as they name it (`iss`); when empty, it follows from `url` and `realm`. For a provider that calls itself otherwise than the cluster calls it. */
    issuer: DerivedUrl('https://login.example/realms/agents', 'identity.url and identity.realm'),
    /** Where the issuer's keys are (JWKS); when empty, it follows from `url` and `realm`. */
    jwksUrl: DerivedUrl('https://keycloak.example/certs', 'identity.url and identity.realm'),
    /** Certificates (PEM) of authorities that may vouch for the identity provider by HTTPS, besides the public ones. */
    ca: Type.String({ maxLength: 65_536, description: 'PEM certificates of authorities, one after the other.' }),
    /** How far the issuer's clock and the pod's may be apart, in seconds. */
    clockSkewSeconds: Type.Integer({ minimum: 0, maximum: 300 }),
    /** Paths of an agent that need no token: globs, in which a last `/*` is everything below. The pod's own probes are open besides. */
    bypassPaths: BypassPaths,
    /** How an agent proves that it is its OAuth client: with the secret it was registered with, or with its SPIFFE identity. */
    clientAuth: oneOf(clientAuthMethods),
    /** Token audiences accepted on inbound calls; any one suffices. */
    allowedAudiences: Type.Array(Text('Accepted token audience.'), { maxItems: 64 }),
    /** Secret with the credentials to register clients. */
    adminCredentialsSecret: Type.String({
      maxLength: 253,
      pattern: '^([a-z0-9]([-a-z0-9.]*[a-z0-9])?)?$',
      description:
        'Name of a Secret, of lower-case letters, digits, dashes and dots, for example keycloak-admin; or empty.',
    }),
  }),
  clientRegistration: Type.Object({
    /** Who registers the client: `sidecar` adds a container that does it itself, by `identity.adminCredentialsSecret`. */
    mode: oneOf(['operator', 'sidecar']),
  }),
  tokenExchange: Type.Object({
    /** Where tokens are exchanged; when empty, it follows from `identity.url` and `identity.realm`. */
    tokenUrl: DerivedUrl('https://keycloak.example/token', 'identity.url and identity.realm'),
    /** Audience asked for when no route says otherwise, on calls to Services of the cluster that carry a caller's token. */
    audience: Type.String({
      maxLength: 1024,
      description: 'Audience asked for when no route says otherwise; empty, with no scopes: such calls are refused.',
    }),
    /** OAuth scopes asked for. */
    scopes: Type.Array(Text('OAuth scope.'), { maxItems: 64 }),
    /** What becomes of the agent's own calls, by their host: the first route that matches. Each names an `audience` or `scopes`, or another `action`. */
    routes: RouteTexts,
  }),
  trace: Type.Object({
    /** Address of the OpenTelemetry collector. */
    endpoint: Endpoint,
    /** Protocol of the collector (OTLP). */
    protocol: oneOf(['grpc', 'http']),
    sampling: Type.Object({
      /** How traces are chosen: `always`, `never`, or `probabilistic`, by rate. */
      type: oneOf(['probabilistic', 'always', 'never']),
      /** Share of traces that `probabilistic` keeps. */
      rate: Type.Number({ minimum: 0, maximum: 1 }),
    }),
  }),
  networkPolicy: NetworkPolicySection,
  rollout: Type.Object({
    /** How many workloads are restarted at a time for a platform change. */
    maxConcurrentWorkloads: Type.Integer({ minimum: 1, maximum: 10000 }),
    /** Hold every restart for a platform change. */
    paused: Type.Boolean(),
    /** A rollout that has not finished by then frees its place. */
    deadlineSeconds: Type.Integer({
      minimum: 10,
      maximum: 86400,
      description: 'A rollout that has not finished by then frees its place.',
    }),
  }),
});
export type PlatformConfig = Type.Static<typeof PlatformConfig>;

export type DeepPartial<T> = T extends readonly unknown[]
  ? T
  : T extends object
    ? { readonly [K in keyof T]?: DeepPartial<T[K]> }
    : T;

/** What one layer explicitly sets. */
export type PartialConfig = DeepPartial<PlatformConfig>;

/** Holds the program of every injected container, Envoy and iptables: `npm run image -- --image sidecar`. */
const sidecarImage = 'ghcr.io/rossoctl/rossoctl-sidecar:0.1.0';

/** Values when no layer says otherwise. They may change with a release: they are in no hash, so an upgrade restarts nothing. */
export const compiledDefaults: PlatformConfig = frozen<PlatformConfig>({
  images: { envoyProxy: sidecarImage, proxyInit: sidecarImage, sidecar: sidecarImage, pullPolicy: 'IfNotPresent' },
  proxy: {
    outboundPort: 15123,
    inboundPort: 15124,
    adminPort: 9901,
    healthPort: 15125,
    uid: 1337,
    plainTcp: 'allow',
    plainTcpPorts: [],
  },
  resources: {
    envoyProxy: { requests: { cpu: '50m', memory: '128Mi' }, limits: { memory: '512Mi' } },
    proxyInit: { requests: { cpu: '10m', memory: '16Mi' }, limits: { memory: '64Mi' } },
    spiffeHelper: { requests: { cpu: '10m', memory: '64Mi' }, limits: { memory: '128Mi' } },
    clientRegistration: { requests: { cpu: '10m', memory: '64Mi' }, limits: { memory: '128Mi' } },
  },
  authBridge: { mode: 'envoy-sidecar' },
  mtls: { mode: 'permissive' },
  spiffe: { trustDomain: 'cluster.local', socketPath: 'unix:///run/spire/agent-sockets/agent.sock', volume: 'csi' },
  identity: {
    provider: 'keycloak',
    url: 'http://keycloak.rossoctl-system.svc:8080',
    realm: 'default',
    issuer: '',
    jwksUrl: '',
    ca: '',
    clockSkewSeconds: 30,
    bypassPaths: [...defaultBypassPaths],
    clientAuth: 'client-secret',
    allowedAudiences: [],
    adminCredentialsSecret: '',
  },
  clientRegistration: { mode: 'operator' },
  tokenExchange: { tokenUrl: '', audience: 'downstream-service', scopes: [], routes: [] },
  trace: {
    endpoint: 'otel-collector.observability:4317',
    protocol: 'grpc',
    sampling: { type: 'probabilistic', rate: 0.1 },
  },
  networkPolicy: networkPolicyDefaults,
  rollout: { maxConcurrentWorkloads: 10, paused: false, deadlineSeconds: 600 },
});

/**
 * What a namespace may not set: what runs as whom, on which port, which folder of a node is mounted, how fast the platform rolls and where DNS
 * is, is the platform's to say.
 */
export const platformOnly = [
  'images',
  'proxy.uid',
  'proxy.outboundPort',
  'proxy.inboundPort',
  'proxy.adminPort',
  'proxy.healthPort',
  'spiffe.socketPath',
  'networkPolicy.dns',
  'rollout',
] as const;

/** Sections that change no pod and therefore are in no hash. */
export const podNeutral = ['rollout', 'networkPolicy'] as const;
