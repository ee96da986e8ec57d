/** What Envoy is started with: who it is, its admin socket, and where the rest comes from. */

import { ownClusters } from './clusters.ts';
import { type Intent, limitsOf } from './intent.ts';
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
    overloadManager: {
      resourceMonitors: [
        extension(
          'envoy.resource_monitors.global_downstream_max_connections',
          'envoy.extensions.resource_monitors.downstream_connections.v3.DownstreamConnectionsConfig',
          { maxActiveDownstreamConnections: String(limitsOf(intent).connections) },
        ),
      ],
    },
    statsConfig: { statsMatcher: { exclusionList: { patterns: unread } } },
    layeredRuntime: { layers: [{ name: 'static', staticLayer: {} }] },
  };
}

/** No timeout: without its listeners Envoy would call itself ready and refuse everything. */
const fromAds: JsonObject = { resourceApiVersion: 'V3', initialFetchTimeout: '0s', ads: {} };

/** Statistics that nobody reads and that cost memory. What is left has names from our configuration alone, never from traffic. */
const unread: JsonObject[] = [
  { prefix: 'vhost.' },
  { prefix: 'runtime.' },
  { prefix: 'thread_local_cluster_manager.' },
  { suffix: '.lb_subsets_active' },
  { contains: '.circuit_breakers.' },
  { contains: '.zone.' },
];
