/** What Envoy is started with: who it is, its admin socket, and where the rest comes from. */

import { ownClusters } from './clusters.ts';
import { type Intent, type Limits, limitsOf } from './intent.ts';
import { clusters, extension, type JsonObject, type Sockets } from './names.ts';

/** Envoy's bootstrap configuration as JSON: the same for every pod but for the node's id. All else comes by ADS from our own socket. */
export function bootstrap(intent: Intent, sockets: Sockets): JsonObject {
  const { namespace, pod, uid } = intent.node;
  return {
    node: { id: `${namespace}/${pod}/${uid}`, cluster: 'rossoctl-sidecar' },
    admin: {
      address: { pipe: { path: sockets.admin, mode: 0o600 } },
      // Else nobody could look when there are too many connections.
      ignoreGlobalConnLimit: true,
    },
    dynamicResources: {
      adsConfig: {
        apiType: 'GRPC',
        transportApiVersion: 'V3',
        setNodeOnFirstMessageOnly: true,
        grpcServices: [{ envoyGrpc: { clusterName: clusters.discovery } }],
      },
      cdsConfig: fromAds,
      ldsConfig: fromAds,
    },
    staticResources: { clusters: [...ownClusters(sockets)] },
    ...(intent.explicit === undefined ? {} : { bootstrapExtensions: [internalListeners] }),
    overloadManager: overload(limitsOf(intent)),
    statsConfig: { statsMatcher: { exclusionList: { patterns: unread } } },
    layeredRuntime: { layers: [{ name: 'static', staticLayer: switches }] },
  };
}

/** No timeout: without its listeners Envoy would call itself ready and refuse everything. */
const fromAds: JsonObject = { resourceApiVersion: 'V3', initialFetchTimeout: '0s', ads: {} };

/** Lets a listener have no address, for what comes out of tunnels. */
const internalListeners = extension(
  'envoy.bootstrap.internal_listener',
  'envoy.extensions.bootstrap.internal_listener.v3.InternalListener',
);

/** What is free again counts as free: else one crowd would leave Envoy refusing, with memory that it only has not given back. */
const switches: JsonObject = { 'envoy.reloadable_features.fixed_heap_use_allocated': true };

const resources = 'envoy.extensions.resource_monitors';
const heapMonitor = 'envoy.resource_monitors.fixed_heap';

/** What Envoy does before it has too much: connections beyond the limit are closed, and memory that runs short is not asked for. */
function overload({ connections, heapMiB }: Limits): JsonObject {
  const heap = (action: string, part: number): JsonObject => ({
    name: `envoy.overload_actions.${action}`,
    triggers: [{ name: heapMonitor, threshold: { value: part } }],
  });
  return {
    refreshInterval: '0.25s',
    resourceMonitors: [
      extension(
        'envoy.resource_monitors.global_downstream_max_connections',
        `${resources}.downstream_connections.v3.DownstreamConnectionsConfig`,
        { maxActiveDownstreamConnections: String(connections) },
      ),
      extension(heapMonitor, `${resources}.fixed_heap.v3.FixedHeapConfig`, {
        maxHeapSizeBytes: String(heapMiB * 1024 * 1024),
      }),
    ],
    actions: [
      heap('shrink_heap', 0.8),
      impatience,
      heap('stop_accepting_connections', 0.9),
      heap('stop_accepting_requests', 0.95),
    ],
  };
}

/** Between these parts of its memory Envoy lets connections rest less and less, down to two seconds. */
const impatience: JsonObject = {
  name: 'envoy.overload_actions.reduce_timeouts',
  triggers: [{ name: heapMonitor, scaled: { scalingThreshold: 0.7, saturationThreshold: 0.85 } }],
  typedConfig: {
    '@type': 'type.googleapis.com/envoy.config.overload.v3.ScaleTimersOverloadActionConfig',
    timerScaleFactors: ['HTTP_DOWNSTREAM_CONNECTION_IDLE', 'HTTP_DOWNSTREAM_STREAM_FLUSH'].map((timer) => ({
      timer,
      minTimeout: '2s',
    })),
  },
};

/** Statistics that nobody reads and that cost memory. What is left has names from our configuration alone, never from traffic. */
const unread: JsonObject[] = [
  { prefix: 'vhost.' },
  { prefix: 'runtime.' },
  { prefix: 'thread_local_cluster_manager.' },
  { suffix: '.lb_subsets_active' },
  { contains: '.circuit_breakers.' },
  { contains: '.zone.' },
];
