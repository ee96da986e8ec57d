/** The two listeners: what arrives and what leaves, and what becomes of each kind of connection. */

import type { Direction } from '../decision.ts';
import { connectionLog } from './access-log.ts';
import { connectionBuffer } from './clusters.ts';
import { http } from './http.ts';
import { httpInspector, inboundTlsInspector, originalDestination, tlsInspector } from './inspection.ts';
import { type Intent, limitsOf, seconds } from './intent.ts';
import { clusters, extension, type JsonObject, type Named } from './names.ts';
import { inboundTls } from './tls.ts';

/** What LDS serves where traffic is captured. */
export function listeners(intent: Intent): readonly Named[] {
  return [inbound(intent), outbound(intent)];
}

/**
 * Everything that arrives is HTTP, or it is refused: by the codec when it is anything else, and TLS where no identity could end it. With
 * mutual TLS on, TLS is ours to end, and plain HTTP stays open for probes and, in permissive mode, for callers without an identity.
 */
export function inbound(intent: Intent): Named {
  const isTls = intent.mtls !== 'disabled';
  const isCaptured = intent.explicit === undefined;
  const plain: JsonObject = { name: 'plain', filters: [http('inbound', intent)] };
  const tls: JsonObject = {
    name: 'tls',
    filterChainMatch: { transportProtocol: 'tls' },
    transportSocket: inboundTls(intent),
    transportSocketConnectTimeout: seconds(limitsOf(intent).headersSeconds),
    filters: [http('inbound', intent)],
  };
  return listener('inbound', intent, {
    listenerFilters: [...(isCaptured ? [originalDestination] : []), ...(isTls ? [inboundTlsInspector] : [])],
    filterChains: [...(isCaptured ? refusals(intent) : []), ...(isTls ? [tls] : [])],
    defaultFilterChain: plain,
  });
}

/**
 * Plain HTTP goes by the processor, who may send it on by mutual TLS; TLS passes untouched to where it was going. So does whatever else it is,
 * unless that is allowed on some ports alone.
 */
function outbound(intent: Intent): Named {
  const passing = untouched('outbound_tcp', intent);
  const isLimited = intent.plainTcpPorts !== undefined;
  return listener('outbound', intent, {
    listenerFilters: [originalDestination, tlsInspector(), httpInspector()],
    filterChains: [
      ...refusals(intent),
      ...known(intent),
      ...plainPorts(intent).flatMap((destinationPort) => [
        ...known(intent, { destinationPort }),
        { name: `tcp-${destinationPort}`, filterChainMatch: { destinationPort }, filters: [passing] },
      ]),
    ],
    defaultFilterChain: {
      name: 'tcp',
      filters: [isLimited ? untouched('outbound_refused', intent, clusters.refused) : passing],
    },
  });
}

/** Each once, and none of our own: Envoy refuses a listener of which two chains match alike. */
function plainPorts({ plainTcpPorts = [], ports }: Intent): readonly number[] {
  return [...new Set(plainTcpPorts)].filter((port) => port !== ports.inbound && port !== ports.outbound);
}

/** TLS and HTTP. Envoy looks at the port first and then no further than at the chains of that port, so that each port needs its own. */
function known(intent: Intent, match: { readonly destinationPort?: number } = {}): JsonObject[] {
  const name = (kind: string): string =>
    match.destinationPort === undefined ? kind : `${kind}-${match.destinationPort}`;
  return [
    {
      name: name('tls'),
      filterChainMatch: { ...match, transportProtocol: 'tls' },
      filters: [untouched('outbound_tls', intent)],
    },
    {
      name: name('http'),
      filterChainMatch: { ...match, applicationProtocols: ['http/1.0', 'http/1.1', 'h2c'] },
      filters: [http('outbound', intent)],
    },
  ];
}

function listener(direction: Direction, intent: Intent, rest: JsonObject): Named {
  const { inspectSeconds } = limitsOf(intent);
  const at = (address: string): JsonObject => ({ socketAddress: { address, portValue: intent.ports[direction] } });
  return {
    name: direction,
    statPrefix: direction,
    trafficDirection: direction.toUpperCase(),
    address: at('0.0.0.0'),
    ...(intent.ipv6 ? { additionalAddresses: [{ address: at('::') }] } : {}),
    perConnectionBufferLimitBytes: connectionBuffer,
    listenerFiltersTimeout: seconds(inspectSeconds),
    continueOnListenerFiltersTimeout: true,
    ...rest,
  };
}

/**
 * A connection whose destination is one of our own listeners was made to it and not captured, or is about to be sent back to us without end.
 * By the port alone: nothing anywhere is rightly called through a sidecar on a sidecar's port.
 */
function refusals(intent: Intent): JsonObject[] {
  return (['inbound', 'outbound'] as const).map((own) => ({
    name: `to-${own}`,
    filterChainMatch: { destinationPort: intent.ports[own] },
    filters: [
      extension('envoy.filters.network.direct_response', 'envoy.extensions.filters.network.direct_response.v3.Config'),
    ],
  }));
}

/** Passes a connection on as it is. */
export function untouched(statPrefix: string, intent: Intent, cluster: string = clusters.outbound): JsonObject {
  return extension('envoy.filters.network.tcp_proxy', 'envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy', {
    statPrefix,
    cluster,
    // How long a connection may rest is for those who made it; the kernel's keep-alive finds the dead.
    idleTimeout: '0s',
    accessLog: connectionLog('outbound', intent),
  });
}
