/** The discovery server: Envoy's only source of listeners, clusters and certificates, on a Unix socket. */

import { create, type Message } from '@bufbuild/protobuf';
import type { ServerDuplexStream } from '@grpc/grpc-js';
import type { Log, Metrics } from '../../engine/types.ts';
import { messageOf } from '../wire/registry.ts';
import {
  type DiscoveryRequest,
  isSettled,
  newStream,
  receive,
  refusalsOf,
  shortName,
  type Step,
  update,
} from './discovery.ts';
import { methodOf } from './grpc/method.ts';
import { serveGrpc } from './grpc/server.ts';
import { types } from './names.ts';
import type { Snapshot } from './snapshot.ts';

export interface DiscoveryOptions {
  /** Path of the socket; what is there already is replaced. */
  readonly socket: string;
  /** What is served from the start. */
  readonly snapshot: Snapshot;
  readonly log: Log;
  readonly metrics: Metrics;
}

export interface DiscoveryServer {
  /** Serves this from now on, and sends Envoy what is different. */
  publish(snapshot: Snapshot): void;
  /** What Envoy has refused and still does, in its own words; empty when it took all it was sent. */
  readonly refusals: readonly string[];
  /** Envoy is there and has taken the last version of all that it asked for. */
  readonly isSettled: boolean;
  close(): void;
}

const method = methodOf<DiscoveryRequest, Message>(
  'envoy.service.discovery.v3.AggregatedDiscoveryService',
  'StreamAggregatedResources',
);

/** Listens. Envoy has one stream; should it come again before the old one is known to be gone, the newest is the one that is told of. */
export async function serveDiscovery(options: DiscoveryOptions): Promise<DiscoveryServer> {
  const { socket, log } = options;
  const meter = discoveryMeter(options.metrics);
  const streams = new Set<Stream>();
  let current = options.snapshot;

  function open(call: ServerDuplexStream<DiscoveryRequest, Message>): void {
    let state = newStream;
    const take = (step: Step): void => {
      state = step.state;
      for (const response of step.responses) {
        call.write(messageFor(response));
        meter.count(response.typeUrl, 'sent');
      }
    };
    const stream: Stream = { state: () => state, update: () => take(update(state, current)) };
    streams.add(stream);
    log.debug('Envoy asks for its configuration');
    call.on('data', (request: DiscoveryRequest) => {
      const step = receive(state, request, current);
      const { typeUrl, errorDetail } = request;
      if (step.verdict !== undefined) meter.count(typeUrl, step.verdict);
      if (step.verdict === 'refused') {
        log.error('Envoy refused its configuration', { type: shortName(typeUrl), reason: errorDetail?.message });
      }
      take(step);
    });
    call.on('end', () => call.end());
    call.on('error', () => undefined);
    call.on('close', () => streams.delete(stream));
  }

  const server = await serveGrpc({ socket, method, handler: open });
  const newest = () => [...streams].at(-1)?.state() ?? newStream;
  return {
    publish: (next) => {
      current = next;
      for (const stream of streams) stream.update();
    },
    get refusals() {
      return refusalsOf(newest());
    },
    get isSettled() {
      return isSettled(newest());
    },
    close: () => server.close(),
  };
}

interface Stream {
  readonly state: () => typeof newStream;
  readonly update: () => void;
}

const responseType = messageOf('envoy.service.discovery.v3.DiscoveryResponse');

function messageFor({ typeUrl, versionInfo, nonce, resources }: Step['responses'][number]): Message {
  const init = { typeUrl, versionInfo, nonce, resources: resources.map(({ any }) => any) };
  return create(responseType, init);
}

const known = new Set(Object.values(types).map(shortName));

function discoveryMeter(metrics: Metrics) {
  const responses = metrics.counter<'type' | 'result'>({
    name: 'rossoctl_sidecar_discovery_responses_total',
    help: "Configuration sent to Envoy, and Envoy's word on it, by type (Cluster, Listener, Secret).",
    labels: ['type', 'result'],
  });
  return {
    count: (typeUrl: string, result: 'sent' | 'accepted' | 'refused') => {
      const type = shortName(typeUrl);
      if (known.has(type)) responses.inc({ type, result });
    },
  };
}
