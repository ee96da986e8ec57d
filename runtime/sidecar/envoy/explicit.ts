/** The explicit proxy: what Envoy listens on, and where it connects to, in a pod whose traffic nobody redirects. */

import { connectionBuffer, connections, outboundClusters } from './clusters.ts';
import { http, type Variant } from './http.ts';
import { originalDestination, tlsInspector } from './inspection.ts';
import { type Explicit, type Intent, limitsOf, seconds } from './intent.ts';
import { inbound, untouched } from './listeners.ts';
import { clusters, extension, type JsonObject, metadata, type Named } from './names.ts';
import type { TlsIdentity } from './secrets.ts';

/** Where the proxy listens for the application. The network never reaches it. */
const loopback = '127.0.0.1';

/** The listener that gets what comes out of tunnels; it has no address. */
const tunnelListener = 'tunnel';

/** A listener for callers, one for the application's own calls, and one inside for what it tunnels. */
export function explicitListeners(intent: Intent, { isOutbound }: Explicit): readonly Named[] {
  return [inbound(intent), ...(isOutbound ? [proxy(intent), tunnel(intent)] : [])];
}

/** To the application, to wherever it calls, and into tunnels. */
export function explicitClusters(
  intent: Intent,
  { application, isOutbound }: Explicit,
  identity: TlsIdentity | undefined,
): readonly Named[] {
  const outwards = isOutbound ? [...outboundClusters(intent, identity), intoTunnel] : [];
  return [toApplication(intent, application), ...outwards];
}

/** The application's port on loopback, where it listens in any case but when it chose one other address. Without a port there is nowhere to go. */
function toApplication(intent: Intent, port: number | undefined): Named {
  const at = (address: string): JsonObject => ({ address: { socketAddress: { address, portValue: port ?? 0 } } });
  const endpoint = { ...at('127.0.0.1'), ...(intent.ipv6 ? { additionalAddresses: [at('::1')] } : {}) };
  const endpoints = port === undefined ? [] : [{ lbEndpoints: [{ endpoint }] }];
  return {
    name: clusters.inbound,
    type: 'STATIC',
    ...connections(intent),
    loadAssignment: { clusterName: clusters.inbound, endpoints },
  };
}

/** HTTP alone: by proxy form, by plain form, or CONNECT. */
function proxy(intent: Intent): Named {
  return {
    name: 'outbound',
    statPrefix: 'outbound',
    trafficDirection: 'OUTBOUND',
    address: { socketAddress: { address: loopback, portValue: intent.ports.outbound } },
    perConnectionBufferLimitBytes: connectionBuffer,
    defaultFilterChain: { name: 'http', filters: [http('outbound', intent, tunnelling)] },
  };
}

/**
 * A tunnel is a connection to the address that was decided for its CONNECT: TLS in it passes untouched, and all else is HTTP to be decided, or
 * refused by the codec. Stricter than what is captured: a protocol that is neither has no reason to go by an HTTP proxy.
 */
function tunnel(intent: Intent): Named {
  return {
    name: tunnelListener,
    statPrefix: tunnelListener,
    trafficDirection: 'OUTBOUND',
    internalListener: {},
    perConnectionBufferLimitBytes: connectionBuffer,
    listenerFilters: [originalDestination, tlsInspector()],
    listenerFiltersTimeout: seconds(limitsOf(intent).inspectSeconds),
    continueOnListenerFiltersTimeout: true,
    filterChains: [
      { name: 'tls', filterChainMatch: { transportProtocol: 'tls' }, filters: [untouched('outbound_tls', intent)] },
    ],
    defaultFilterChain: { name: 'http', filters: [http('outbound', intent)] },
  };
}

const filterState = 'envoy.extensions.filters.http.set_filter_state.v3.Config';

/** CONNECT ends here, and its tunnel goes on as a connection of its own that is told the decided address as its destination. */
const tunnelling: Variant = {
  filters: [
    extension('envoy.filters.http.set_filter_state', filterState, {
      onRequestHeaders: [
        {
          objectKey: 'envoy.filters.listener.original_dst.local_ip',
          formatString: {
            textFormatSource: {
              inlineString: `%DYNAMIC_METADATA(${metadata.namespace}:${metadata.destination})%`,
            },
          },
          sharedWithUpstream: 'ONCE',
          skipIfEmpty: true,
        },
      ],
    }),
  ],
  // How long a tunnel may rest is for those who made it, as with what is captured.
  connect: {
    cluster: clusters.tunnel,
    idleTimeout: '0s',
    upgradeConfigs: [{ upgradeType: 'CONNECT', connectConfig: {} }],
  },
};

const sockets = 'envoy.extensions.transport_sockets';

const intoTunnel: Named = {
  name: clusters.tunnel,
  type: 'STATIC',
  connectTimeout: seconds(2),
  loadAssignment: {
    clusterName: clusters.tunnel,
    endpoints: [
      { lbEndpoints: [{ endpoint: { address: { envoyInternalAddress: { serverListenerName: tunnelListener } } } }] },
    ],
  },
  transportSocket: extension(
    'envoy.transport_sockets.internal_upstream',
    `${sockets}.internal_upstream.v3.InternalUpstreamTransport`,
    { transportSocket: extension('envoy.transport_sockets.raw_buffer', `${sockets}.raw_buffer.v3.RawBuffer`) },
  ),
};
