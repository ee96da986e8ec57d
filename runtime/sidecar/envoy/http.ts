/** How Envoy treats HTTP: every request is asked about at the processor, nothing is buffered, and streams live as long as they like. */

import type { Direction } from '../decision.ts';
import { accessLog } from './access-log.ts';
import { http2 } from './clusters.ts';
import { type Intent, limitsOf, seconds } from './intent.ts';
import { clusters, directionKey, extension, type JsonObject, metadata, requestAttributes } from './names.ts';
import { isForMtls, mtlsFailed, partFromUnreachable, unreachable } from './unreachable.ts';

const manager = 'envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager';

/** What a listener does otherwise with requests that pass. */
export interface Variant {
  /** Filters between the processor and the router. */
  readonly filters: readonly JsonObject[];
  /** Where CONNECT goes, as a `RouteAction`. */
  readonly connect: JsonObject;
}

/** The network filter that speaks HTTP/1 and HTTP/2, for connections of that direction. */
export function http(direction: Direction, intent: Intent, variant?: Variant): JsonObject {
  const { idleSeconds, restSeconds, headersSeconds, headersKb, headersCount } = limitsOf(intent);
  const isInbound = direction === 'inbound';
  return extension('envoy.filters.network.http_connection_manager', manager, {
    statPrefix: direction,
    codecType: 'AUTO',
    ...manners[direction],
    // Without these, x-envoy headers of a client in a private network would be obeyed.
    internalAddressConfig: {},
    serverHeaderTransformation: 'PASS_THROUGH',
    commonHttpProtocolOptions: {
      idleTimeout: seconds(isInbound ? restSeconds : idleSeconds),
      maxHeadersCount: headersCount,
    },
    httpProtocolOptions: { acceptHttp10: true },
    http2ProtocolOptions: { ...http2, maxConcurrentStreams: isInbound ? 100 : 1_000, allowConnect: true },
    maxRequestHeadersKb: headersKb,
    requestHeadersTimeout: seconds(headersSeconds),
    streamIdleTimeout: seconds(idleSeconds),
    // An answer that nobody takes, such as a refusal, is not kept.
    streamFlushTimeout: seconds(isInbound ? restSeconds : idleSeconds),
    upgradeConfigs: upgrades[direction].map((upgradeType) => ({ upgradeType })),
    accessLog: accessLog(direction, intent),
    localReplyConfig: { mappers: [...(isMtls(direction, intent) ? mtlsFailed : []), unreachable] },
    routeConfig: {
      name: direction,
      virtualHosts: [{ name: direction, domains: ['*'], routes: routes(direction, intent, variant?.connect) }],
      // The cluster of mutual TLS comes and goes with the identity.
      validateClusters: !isMtls(direction, intent),
    },
    httpFilters: [
      partFromUnreachable,
      processor(direction, intent),
      ...(variant?.filters ?? []),
      extension('envoy.filters.http.router', 'envoy.extensions.filters.http.router.v3.Router', {
        suppressEnvoyHeaders: true,
      }),
    ],
  });
}

/**
 * What arrives is normalised before its path is judged, and tells where it came from. What leaves is as the application made it: a path that
 * was signed, or an address that is nobody's business outside, must not change.
 */
const manners: Readonly<Record<Direction, JsonObject>> = {
  inbound: {
    useRemoteAddress: true,
    normalizePath: true,
    mergeSlashes: true,
    pathWithEscapedSlashesAction: 'REJECT_REQUEST',
    preserveExternalRequestId: true,
  },
  outbound: { useRemoteAddress: false, skipXffAppend: true, generateRequestId: false },
};

/** CONNECT goes out, to a proxy that the application chose; nobody tunnels in. */
const upgrades: Readonly<Record<Direction, readonly string[]>> = {
  inbound: ['websocket'],
  outbound: ['websocket', 'CONNECT'],
};

function isMtls(direction: Direction, { mtls }: Intent): boolean {
  return direction === 'outbound' && mtls !== 'disabled';
}

/** The processor's word chooses the cluster. It comes when a route was chosen already, so it has Envoy choose again (`clear_route_cache`). */
function routes(direction: Direction, intent: Intent, tunnel: JsonObject = {}): JsonObject[] {
  const to = (cluster: string, match: JsonObject = {}, connecting: JsonObject = {}): JsonObject[] => {
    const route: JsonObject = { cluster, timeout: '0s' };
    const all: JsonObject = { match: { prefix: '/', ...match }, route };
    const connect: JsonObject = { match: { connectMatcher: {}, ...match }, route: { ...route, ...connecting } };
    return direction === 'outbound' ? [connect, all] : [all];
  };
  const mtls = isMtls(direction, intent) ? to(clusters.outboundMtls, { dynamicMetadata: [isForMtls] }) : [];
  return [...mtls, ...to(clusters[direction], {}, tunnel)];
}

/** The filter that asks our processor, by headers alone. That it cannot be asked is a refusal. */
function processor(direction: Direction, intent: Intent): JsonObject {
  const { processorSeconds } = limitsOf(intent);
  return extension('envoy.filters.http.ext_proc', 'envoy.extensions.filters.http.ext_proc.v3.ExternalProcessor', {
    statPrefix: 'processor',
    grpcService: {
      envoyGrpc: { clusterName: clusters.processor },
      initialMetadata: [{ key: directionKey, value: direction }],
    },
    failureModeAllow: false,
    statusOnError: { code: 'ServiceUnavailable' },
    messageTimeout: seconds(processorSeconds),
    allowModeOverride: false,
    processingMode: {
      requestHeaderMode: 'SEND',
      responseHeaderMode: 'SKIP',
      requestBodyMode: 'NONE',
      responseBodyMode: 'NONE',
      requestTrailerMode: 'SKIP',
      responseTrailerMode: 'SKIP',
    },
    requestAttributes: [...requestAttributes],
    // Taking away a client's x-envoy headers is what it must be able to do; changing host, path or method is not.
    mutationRules: { allowAllRouting: false, allowEnvoy: true, disallowSystem: true },
    metadataOptions: {
      receivingNamespaces: { untyped: direction === 'outbound' ? [metadata.namespace] : [] },
    },
  });
}
