/** Where Envoy connects to: original destinations in both directions, and our own program. */

import { type Intent, limitsOf, seconds } from './intent.ts';
import { clusters, type JsonObject, metadata, type Named, type Sockets } from './names.ts';
import type { TlsIdentity } from './secrets.ts';
import { outboundTls } from './tls.ts';

/** What CDS serves where traffic is captured. */
export function trafficClusters(intent: Intent, identity: TlsIdentity | undefined): readonly Named[] {
  return [originalDestination(clusters.inbound, intent), ...outboundClusters(intent, identity)];
}

/** To wherever the application was going, or the processor says. Without an identity nothing leaves by mutual TLS, and there is no cluster for it. */
export function outboundClusters(intent: Intent, identity: TlsIdentity | undefined): readonly Named[] {
  const outbound = originalDestination(clusters.outbound, intent, elsewhere);
  if (intent.mtls === 'disabled' || identity === undefined) return [outbound];
  return [outbound, { ...outbound, name: clusters.outboundMtls, transportSocket: outboundTls(identity) }];
}

/** What the bootstrap holds: our discovery server and our processor. */
export function ownClusters(sockets: Sockets): JsonObject[] {
  return [own(clusters.discovery, sockets.discovery), own(clusters.processor, sockets.processor)];
}

/**
 * A processor's word on where a request goes, which no header can say. Outbound only: what arrives is for the address that was dialled.
 */
const elsewhere: JsonObject = {
  metadataKey: { key: metadata.namespace, path: [{ key: metadata.destination }] },
};

/**
 * When Envoy lets go of an idle connection: before the usual servers do (gunicorn after 2 seconds, Node and uvicorn after 5), since a request
 * sent on a connection that the other side is closing would be answered 503.
 */
const pooledIdle = seconds(1);

function originalDestination(name: string, intent: Intent, loadBalancing: JsonObject = {}): Named {
  return {
    name,
    type: 'ORIGINAL_DST',
    lbPolicy: 'CLUSTER_PROVIDED',
    originalDstLbConfig: { useHttpHeader: false, ...loadBalancing },
    ...connections(intent),
  };
}

/** How Envoy connects to an application, whichever. */
export function connections(intent: Intent): JsonObject {
  const { connectSeconds, headersCount } = limitsOf(intent);
  return {
    connectTimeout: seconds(connectSeconds),
    perConnectionBufferLimitBytes: connectionBuffer,
    circuitBreakers: unlimited,
    upstreamConnectionOptions: { tcpKeepalive: { keepaliveTime: 60, keepaliveInterval: 20, keepaliveProbes: 3 } },
    typedExtensionProtocolOptions: {
      [httpOptions]: {
        '@type': `type.googleapis.com/${httpOptions}`,
        commonHttpProtocolOptions: { idleTimeout: pooledIdle, maxHeadersCount: headersCount },
        // What came as HTTP/2 goes on as HTTP/2, so gRPC works, and HTTP/1.1 stays what it is.
        useDownstreamProtocolConfig: { httpProtocolOptions: {}, http2ProtocolOptions: http2 },
      },
    },
  };
}

const httpOptions = 'envoy.extensions.upstreams.http.v3.HttpProtocolOptions';

/** Bytes buffered a connection and direction before the sender has to wait. */
export const connectionBuffer = 256 * 1024;

/** Windows that one slow stream cannot fill the memory with. */
export const http2: JsonObject = Object.freeze({
  maxConcurrentStreams: 1_000,
  initialStreamWindowSize: connectionBuffer,
  initialConnectionWindowSize: 1024 * 1024,
});

const most = 4_294_967_295;

/** Envoy's own limits (1,024 requests at once) are for load balancers: an agent may hold more streams open, and the connections are limited. */
const unlimited: JsonObject = {
  thresholds: [{ maxConnections: most, maxPendingRequests: most, maxRequests: most, maxRetries: most }],
};

function own(name: string, socket: string): JsonObject {
  return {
    name,
    type: 'STATIC',
    connectTimeout: seconds(2),
    circuitBreakers: unlimited,
    loadAssignment: {
      clusterName: name,
      endpoints: [{ lbEndpoints: [{ endpoint: { address: { pipe: { path: socket } } } }] }],
    },
    typedExtensionProtocolOptions: {
      [httpOptions]: {
        '@type': `type.googleapis.com/${httpOptions}`,
        explicitHttpConfig: { http2ProtocolOptions: {} },
      },
    },
  };
}
