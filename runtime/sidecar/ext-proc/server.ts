/** The processor: Envoy asks it about each request's headers, and one of the two rules decides. */

import { chmodSync, rmSync } from 'node:fs';
import http2, { type IncomingHttpHeaders, type ServerHttp2Stream } from 'node:http2';
import { fromBinary, toBinary } from '@bufbuild/protobuf';
import type { Clock } from '../../engine/clock.ts';
import type { Log, Metrics } from '../../engine/types.ts';
import type { Decide, Direction } from '../decision.ts';
import { firstMessage, framed } from '../envoy/grpc/frame.ts';
import { directionKey } from '../envoy/names.ts';
import { messageOf } from '../wire/registry.ts';
import { decide, decideAtOnce } from './decide.ts';
import { headersOf, type ProcessingRequest, requestHead } from './headers.ts';
import { processorMeter } from './meter.ts';
import { reply } from './reply.ts';
import { createRoom, type RoomOptions } from './room.ts';

export interface ProcessorOptions {
  /** Path of the socket; what is there already is replaced. */
  readonly socket: string;
  readonly rules: Readonly<Record<Direction, Decide>>;
  /** For one decision, in milliseconds. Default 8,000; must be below `Limits.processorSeconds`, or Envoy's bare answer comes first. */
  readonly deadlineMs?: number;
  /** Of each direction, for requests that wait; one that finds none is still answered if that can be done at once. */
  readonly room?: RoomOptions;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
}

export interface Processor {
  /** Ends at once: Envoy refuses every request from here on. */
  close(): void;
}

const method = '/envoy.service.ext_proc.v3.ExternalProcessor/Process';
const requestType = messageOf('envoy.service.ext_proc.v3.ProcessingRequest');
const responseType = messageOf('envoy.service.ext_proc.v3.ProcessingResponse');

/** Bytes of one message: a request's headers, of which Envoy lets pass far fewer. */
const mostBytes = 1024 * 1024;

/**
 * gRPC by hand on HTTP/2, because grpc-js leaves Node's guard against streams that are reset (a thousand, then 33 a second) as it is: Envoy
 * resets every call that has been answered, so a busy pod would lose its processor. Only Envoy reaches the socket.
 */
const sessions: http2.ServerOptions = {
  streamResetBurst: 2 ** 31 - 1,
  streamResetRate: 2 ** 31 - 1,
  maxSessionMemory: 1_000,
};

/**
 * Listens. Each call is one request: its first message is answered, with which Envoy has all it asked for and lets go of the call. A call that
 * it lets go of before is a client that went away: the rule's signal ends, and nothing is said.
 */
export async function serveProcessor(options: ProcessorOptions): Promise<Processor> {
  const { socket, log } = options;
  const meter = processorMeter(options.metrics, () => options.clock.monotonicMs());
  const rooms = { inbound: createRoom(options.room), outbound: createRoom(options.room) };
  const open = new Set<http2.ServerHttp2Session>();

  function take(stream: ServerHttp2Stream, headers: IncomingHttpHeaders): void {
    const direction = directionOf(headers[directionKey]);
    const gone = new AbortController();
    stream.on('error', () => undefined);
    stream.on('close', () => {
      if (!stream.headersSent) gone.abort(callerGone);
    });
    if (headers[':path'] !== method || direction === undefined) return refuseCall(stream, status.unimplemented);
    let arrived: Buffer = Buffer.alloc(0);
    const read = (chunk: Buffer): void => {
      arrived = arrived.length === 0 ? chunk : Buffer.concat([arrived, chunk]);
      const first = firstMessage(arrived, mostBytes);
      if (first.kind === 'wait') return;
      stream.off('data', read).resume();
      if (first.kind === 'bad') refuseCall(stream, status.invalidArgument);
      else void answer({ stream, direction, bytes: first.bytes, signal: gone.signal });
    };
    stream.on('data', read);
  }

  async function answer({ stream, direction, bytes, signal }: Question): Promise<void> {
    const leave = rooms[direction].take(bytes.length);
    try {
      const message = fromBinary(requestType, bytes) as unknown as ProcessingRequest;
      const headers = headersOf(message);
      // Nothing else was asked for, and what is not asked for is not answered.
      if (headers === undefined) return endCall(stream);
      const asked = requestHead(direction, headers, message);
      const measured = meter.begin(asked);
      const decision = leave === undefined ? decideAtOnce(options, asked) : await decide(options, asked, signal);
      measured(signal.aborted ? undefined : decision);
      if (!signal.aborted) endCall(stream, toBinary(responseType, reply(decision, headers)));
    } catch (error) {
      log.error('the processor could not answer Envoy', { direction, error });
      if (!signal.aborted) refuseCall(stream, status.internal);
    } finally {
      leave?.();
    }
  }

  const server = http2.createServer(sessions);
  server.on('stream', take);
  server.on('session', (session) => {
    open.add(session);
    session.on('error', () => undefined);
    session.on('close', () => open.delete(session));
  });
  rmSync(socket, { force: true });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(socket, resolve);
  });
  chmodSync(socket, 0o600);
  return {
    close: () => {
      server.close();
      for (const session of open) session.destroy();
    },
  };
}

interface Question {
  readonly stream: ServerHttp2Stream;
  readonly direction: Direction;
  readonly bytes: Buffer;
  /** Ends when Envoy lets go of the call. */
  readonly signal: AbortSignal;
}

/** Made once: an error is dear, and its stack says nothing here. */
const callerGone = new Error('the caller went away');

function directionOf(value: string | string[] | undefined): Direction | undefined {
  return value === 'inbound' || value === 'outbound' ? value : undefined;
}

/** gRPC's status codes. */
const status = { invalidArgument: 3, unimplemented: 12, internal: 13 } as const;

const head = { ':status': 200, 'content-type': 'application/grpc' } as const;

/** Closed here as well: Node makes an error, with its stack, of the reset that Envoy sends when it has its answer. */
function endCall(stream: ServerHttp2Stream, message?: Uint8Array): void {
  stream.respond(head, { waitForTrailers: true });
  stream.on('wantTrailers', () => {
    stream.sendTrailers({ 'grpc-status': '0' });
    stream.close();
  });
  stream.end(message === undefined ? undefined : framed(message));
}

function refuseCall(stream: ServerHttp2Stream, code: number): void {
  // Envoy may be gone by now: to answer then is an error of Node's, which nobody would catch.
  if (stream.headersSent || stream.destroyed || stream.closed) stream.close();
  else stream.respond({ ...head, 'grpc-status': String(code) }, { endStream: true });
}
