/** How Envoy finds out what a captured connection is: where it was going, and what its first bytes say. */

import { extension, type JsonObject } from './names.ts';

const filters = 'envoy.extensions.filters.listener';

/** Gives the connection the destination it had before it was captured. Must come first: what follows goes by it. */
export const originalDestination: JsonObject = extension(
  'envoy.filters.listener.original_dst',
  `${filters}.original_dst.v3.OriginalDst`,
);

/** Ports of protocols in which the server speaks first, so that waiting for the client's first bytes is waiting for nothing. */
export const serverFirstPorts: readonly number[] = [21, 22, 25, 110, 143, 587, 3306, 5900];

/** Tells TLS from the rest, on all ports: of what arrives nothing is let in in which the server speaks first. */
export const inboundTlsInspector: JsonObject = extension(
  'envoy.filters.listener.tls_inspector',
  `${filters}.tls_inspector.v3.TlsInspector`,
);

/** Tells TLS from the rest, where there is something to wait for. */
export function tlsInspector(): JsonObject {
  return { ...inboundTlsInspector, ...notFor };
}

/** Tells HTTP/1 and HTTP/2 from the rest. */
export function httpInspector(): JsonObject {
  const type = `${filters}.http_inspector.v3.HttpInspector`;
  return { ...extension('envoy.filters.listener.http_inspector', type), ...notFor };
}

/** Ends are exclusive. */
const notFor: JsonObject = {
  filterDisabled: {
    orMatch: {
      rules: serverFirstPorts.map((port) => ({ destinationPortRange: { start: port, end: port + 1 } })),
    },
  },
};
