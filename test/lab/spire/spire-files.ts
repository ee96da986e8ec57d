// Where a SPIRE of one's own keeps its files, and the configurations of its server and its agent.
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** What to start. Durations are Go's, such as `30s` or `1h`. */
export interface SpireOptions {
  /** A word for the folder's name. */
  readonly name?: string;
  /** Default `cluster.local`. */
  readonly trustDomain?: string;
  /** How long an X.509-SVID lives; default `1h`. The agent replaces it when half of that has gone. */
  readonly svidTtl?: string;
  /** How long a root of SPIRE's own lives; default `24h`. An SVID never outlives it. */
  readonly caTtl?: string;
  /** An authority above: SPIRE's own is then an intermediate one. Default: SPIRE's own is a root. */
  readonly upstream?: Upstream;
  /** Writes the trust bundle into ConfigMaps as long as the server runs. Default: nowhere. */
  readonly publish?: Publication;
  /** Lets processes of every user come to the socket, such as those of containers that have its folder mounted. Default: this user's alone. */
  readonly isOpen?: boolean;
  /** Where its folder is made; default the system's temporary folder. */
  readonly tmpDir?: string;
}

/** An authority whose certificate is self-signed, as PEM. */
export interface Upstream {
  readonly certificate: string;
  readonly key: string;
}

/** The ConfigMaps of one cluster that hold the trust bundle. */
export interface Publication {
  readonly kubeconfigPath: string;
  readonly namespace: string;
  /** Kept by the notifier `k8sbundle` as PEM under `bundle.crt`; it has to exist. */
  readonly pemConfigMap: string;
  /** Kept by the publisher `k8s_configmap` as a SPIFFE bundle document under `bundle.spiffe`; it is created. */
  readonly spiffeConfigMap: string;
}

/** Loopback ports. */
export interface SpirePorts {
  readonly server: number;
  readonly serverHealth: number;
  readonly agentHealth: number;
}

/** Where on its health port a server or agent says by 200 that it serves. */
export const readyPath = '/ready';

/** The ports and paths of one SPIRE. */
export interface SpirePlace {
  readonly dir: string;
  readonly ports: SpirePorts;
  readonly trustDomain: string;
  /** The server's own API. */
  readonly serverSocket: string;
  /** The Workload API. */
  readonly agentSocket: string;
  readonly serverConfig: string;
  readonly agentConfig: string;
  /** The roots by which the agent knows its server; written once the server runs. */
  readonly bootstrapBundle: string;
}

/** Makes the folders and writes both configurations below `dir`. */
export function writeSpireFiles(dir: string, ports: SpirePorts, options: SpireOptions): SpirePlace {
  const place: SpirePlace = {
    dir,
    ports,
    trustDomain: options.trustDomain ?? 'cluster.local',
    serverSocket: join(dir, 'server', 'api.sock'),
    agentSocket: join(dir, 'agent', 'workload.sock'),
    serverConfig: join(dir, 'server.json'),
    agentConfig: join(dir, 'agent.json'),
    bootstrapBundle: join(dir, 'bootstrap.pem'),
  };
  for (const folder of ['server', 'agent', 'server-data', 'agent-data']) mkdirSync(join(dir, folder), { mode: 0o700 });
  if (options.isOpen === true) chmodSync(join(dir, 'agent'), 0o755);
  const upstream = options.upstream === undefined ? {} : writeUpstream(dir, options.upstream);
  writeFileSync(place.serverConfig, JSON.stringify(serverConfig(place, options, upstream), null, 2));
  writeFileSync(place.agentConfig, JSON.stringify(agentConfig(place), null, 2));
  return place;
}

type Plugins = Readonly<Record<string, Readonly<Record<string, { readonly plugin_data: unknown }>>>>;

function writeUpstream(dir: string, { certificate, key }: Upstream): Plugins {
  const [certificatePath, keyPath] = [join(dir, 'upstream.crt'), join(dir, 'upstream.key')];
  writeFileSync(certificatePath, certificate);
  writeFileSync(keyPath, key, { mode: 0o600 });
  return { UpstreamAuthority: { disk: { plugin_data: { cert_file_path: certificatePath, key_file_path: keyPath } } } };
}

// Server and agent by default take 5 s each to hear of an entry.
const promptly = '1s';

function serverConfig({ dir, ports, trustDomain, serverSocket }: SpirePlace, options: SpireOptions, upstream: Plugins) {
  const database = { database_type: 'sqlite3', connection_string: join(dir, 'server-data', 'datastore.sqlite3') };
  return {
    server: {
      bind_address: '127.0.0.1',
      bind_port: ports.server,
      socket_path: serverSocket,
      trust_domain: trustDomain,
      data_dir: join(dir, 'server-data'),
      log_level: 'INFO',
      ca_ttl: options.caTtl ?? '24h',
      default_x509_svid_ttl: options.svidTtl ?? '1h',
      // An agent that a busy machine keeps from renewing its own could not attest again: its token is used up.
      agent_ttl: '1h',
      experimental: { cache_reload_interval: promptly },
    },
    plugins: {
      DataStore: { sql: { plugin_data: database } },
      NodeAttestor: { join_token: { plugin_data: {} } },
      KeyManager: { memory: { plugin_data: {} } },
      ...upstream,
      ...(options.publish === undefined ? {} : publishers(options.publish)),
    },
    health_checks: healthChecks(ports.serverHealth),
  };
}

function publishers({ kubeconfigPath, namespace, pemConfigMap, spiffeConfigMap }: Publication): Plugins {
  const cluster = {
    kubeconfig_path: kubeconfigPath,
    namespace,
    configmap_name: spiffeConfigMap,
    configmap_key: 'bundle.spiffe',
    format: 'spiffe',
  };
  return {
    Notifier: {
      k8sbundle: { plugin_data: { kube_config_file_path: kubeconfigPath, namespace, config_map: pemConfigMap } },
    },
    BundlePublisher: { k8s_configmap: { plugin_data: { clusters: { lab: cluster } } } },
  };
}

function agentConfig({ dir, ports, trustDomain, agentSocket, bootstrapBundle }: SpirePlace) {
  return {
    agent: {
      data_dir: join(dir, 'agent-data'),
      server_address: '127.0.0.1',
      server_port: ports.server,
      socket_path: agentSocket,
      trust_domain: trustDomain,
      trust_bundle_path: bootstrapBundle,
      log_level: 'INFO',
      experimental: { sync_interval: promptly },
    },
    plugins: {
      NodeAttestor: { join_token: { plugin_data: {} } },
      KeyManager: { memory: { plugin_data: {} } },
      WorkloadAttestor: { unix: { plugin_data: {} } },
    },
    health_checks: healthChecks(ports.agentHealth),
  };
}

function healthChecks(port: number) {
  return { listener_enabled: true, bind_address: '127.0.0.1', bind_port: String(port), ready_path: readyPath };
}
