/** The names that Envoy's configuration, the discovery server and the processor must agree on. */

import path from 'node:path/posix';
import type { JsonObject } from '@bufbuild/protobuf';

export type { JsonObject };

/** A resource: what discovery calls it is in it. */
export type Named = JsonObject & { readonly name: string };

export const clusters = {
  /** To the application, on the address and port that the caller dialled. */
  inbound: 'inbound',
  /** To wherever the application was going. */
  outbound: 'outbound',
  /** Into what a CONNECT of the explicit proxy carries. */
  tunnel: 'tunnel',
  /** The same by mutual TLS. */
  outboundMtls: 'outbound_mtls',
  /** Nowhere: there is no such cluster, so that a connection for it is logged and ends. */
  refused: 'refused',
  /** Our processor. */
  processor: 'processor',
  /** Our discovery server. */
  discovery: 'discovery',
} as const;

/** Names of what SDS serves. */
export const secretNames = {
  /** Our certificate and key. */
  identity: 'identity',
  /** Whom to believe. */
  trust: 'trust',
} as const;

/** Where the sockets are: in a folder that only the sidecar's containers mount. A path may have 107 bytes at most, as the kernel wants it. */
export interface Sockets {
  readonly admin: string;
  readonly discovery: string;
  readonly processor: string;
}

export function socketsIn(folder: string): Sockets {
  const at = (name: string) => path.join(folder, name);
  return { admin: at('admin.sock'), discovery: at('discovery.sock'), processor: at('processor.sock') };
}

/** Metadata of the processor's gRPC call that says which listener it serves. Set by Envoy's configuration; a client cannot reach it. */
export const directionKey = 'rossoctl-direction';

/**
 * Dynamic metadata by which the processor says how a request leaves, `{ rossoctl: { destination: "ip:port", mtls: true } }`: elsewhere than to its
 * original destination, and by mutual TLS. No client can write it.
 */
export const metadata = { namespace: 'rossoctl', destination: 'destination', mtls: 'mtls' } as const;

/** What the processor is told of a connection. */
export const requestAttributes = [
  'source.address',
  'destination.address',
  'connection.mtls',
  'connection.uri_san_peer_certificate',
] as const;

/** Kinds of what the discovery server serves. */
export const types = {
  cluster: 'envoy.config.cluster.v3.Cluster',
  listener: 'envoy.config.listener.v3.Listener',
  secret: 'envoy.extensions.transport_sockets.tls.v3.Secret',
} as const;

/** The URL by which a packed message names its type. */
export function typeUrl(name: string): string {
  return `type.googleapis.com/${name}`;
}

/** An extension as Envoy's JSON has it: its name and its configuration with the type. */
export function extension(name: string, type: string, config: JsonObject = {}): JsonObject {
  return { name, typedConfig: { '@type': typeUrl(type), ...config } };
}
