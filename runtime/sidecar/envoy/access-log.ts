/** Envoy's access log: one JSON line a request or connection, without queries, headers or anything else that may be a secret. */

import type { Direction } from '../decision.ts';
import type { Intent } from './intent.ts';
import { extension, type JsonObject } from './names.ts';

const stdout = 'envoy.extensions.access_loggers.stream.v3.StdoutAccessLog';

/** What both kinds of lines have. `flags` and `details` say in Envoy's words why it did not end well. */
const connection: JsonObject = {
  time: '%START_TIME%',
  source: '%DOWNSTREAM_REMOTE_ADDRESS%',
  destination: '%DOWNSTREAM_LOCAL_ADDRESS%',
  upstream: '%UPSTREAM_HOST%',
  cluster: '%UPSTREAM_CLUSTER%',
  peer: '%DOWNSTREAM_PEER_URI_SAN%',
  upstreamPeer: '%UPSTREAM_PEER_URI_SAN%',
  flags: '%RESPONSE_FLAGS%',
  received: '%BYTES_RECEIVED%',
  sent: '%BYTES_SENT%',
  durationMs: '%DURATION%',
};

/** Cut, so that no caller fills the log with lines of 60 KiB. */
const request: JsonObject = {
  method: '%REQ(:METHOD):32%',
  authority: '%REQ(:AUTHORITY):256%',
  path: '%PATH(NQ):1024%',
  protocol: '%PROTOCOL%',
  status: '%RESPONSE_CODE%',
  details: '%RESPONSE_CODE_DETAILS%',
  requestId: '%REQ(X-REQUEST-ID):64%',
};

/** The logs of an HTTP listener; none when the pod's configuration says so. */
export function accessLog(direction: Direction, intent: Intent): JsonObject[] {
  return lines(intent, { log: 'access', direction, ...connection, ...request });
}

/** The logs of connections that pass or are refused as they are. */
export function connectionLog(direction: Direction, intent: Intent): JsonObject[] {
  return lines(intent, { log: 'connection', direction, ...connection, serverName: '%REQUESTED_SERVER_NAME%' });
}

function lines({ accessLog: isWanted }: Intent, jsonFormat: JsonObject): JsonObject[] {
  if (!isWanted) return [];
  return [extension('envoy.access_loggers.stdout', stdout, { logFormat: { jsonFormat } })];
}
