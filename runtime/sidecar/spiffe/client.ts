/** The client of the SPIFFE Workload API: bytes of messages over the agent's Unix socket, and in plain words how each call ended. */

import { type ChannelOptions, Client, credentials, Metadata, type StatusObject, status } from '@grpc/grpc-js';
import { plain } from '../../signature/refusal.ts';
import { bytesOf } from '../wire/registry.ts';

/**
 * `no-entry`: the agent knows no entry for this process, or does not know it yet; `unreachable`: no agent answers at the socket, or it went;
 * `ended`: it closed the stream; `failed`: it answered with another error.
 */
export interface Ending {
  readonly kind: 'no-entry' | 'unreachable' | 'ended' | 'failed';
  /** A sentence without a full stop, beginning with "the SPIRE agent". */
  readonly sentence: string;
}

/** Takes one message; it must not throw, nor keep the bytes. */
export type Take = (bytes: Uint8Array) => void;

/** Calls never reject: each ends with an `Ending`, for `signal` too. Messages are bounded in size and not looked into. */
export interface WorkloadApi {
  /** Messages `X509SVIDResponse`, again at each change. */
  x509Svids(take: Take, signal: AbortSignal): Promise<Ending>;
  /** Messages `X509BundlesResponse`, again at each change. */
  x509Bundles(take: Take, signal: AbortSignal): Promise<Ending>;
  /** Messages `JWTBundlesResponse`, again at each change. */
  jwtBundles(take: Take, signal: AbortSignal): Promise<Ending>;
  /** A `JWTSVIDResponse` with a token of that identity. Takes five seconds at most. */
  jwtSvid(audiences: readonly string[], spiffeId: string): Promise<Uint8Array | Ending>;
  /** Ends every call, those that are still made too. */
  close(): void;
}

/** How long an agent may be silent before it counts as one that hangs, in milliseconds. */
export interface WorkloadApiPatience {
  /** For a JWT-SVID, which it may have to sign first. */
  readonly tokenMs: number;
  /** For the first message of a stream: who asks is looked up first, which takes a kubelet up to half a minute for a new pod. */
  readonly firstMs: number;
}

const usualPatience: WorkloadApiPatience = { tokenMs: 5_000, firstMs: 60_000 };

const options: ChannelOptions = {
  'grpc.max_receive_message_length': 4 * 1024 * 1024,
  // Whoever calls decides when to try again: the channel must not add waiting of its own that grows.
  'grpc.initial_reconnect_backoff_ms': 250,
  'grpc.max_reconnect_backoff_ms': 500,
  'grpc.enable_retries': 0,
  'grpc.service_config_disable_resolution': 1,
  'grpc.use_local_subchannel_pool': 1,
  // An agent that is frozen keeps its socket open. More often than every five minutes a Go server takes for abuse.
  'grpc.keepalive_time_ms': 330_000,
  'grpc.keepalive_timeout_ms': 20_000,
};

/** Nothing is connected before the first call. `socketPath`: as `workloadApiSocket` reads it. */
export function createWorkloadApi(socketPath: string, patience = usualPatience): WorkloadApi {
  const client = new Client(`unix:${socketPath}`, credentials.createInsecure(), options);
  const closing = new AbortController();
  const end = (found: Pick<StatusObject, 'code' | 'details'>) => endingOf(found, socketPath);

  function follow(method: string, take: Take, asked: AbortSignal): Promise<Ending> {
    const signal = AbortSignal.any([asked, closing.signal]);
    if (signal.aborted) return Promise.resolve(letGo);
    const { promise, resolve } = Promise.withResolvers<Ending>();
    const request = requestBytes(method.replace('Fetch', ''), {});
    const call = client.makeServerStreamRequest(pathOf(method), same, same, request, header());
    const detach = cancelWith(call, signal);
    let ending: Ending | undefined;
    const silence = setTimeout(() => {
      ending = silent(patience.firstMs);
      call.cancel();
    }, patience.firstMs);
    call.on('data', (bytes: Buffer) => {
      clearTimeout(silence);
      take(bytes);
    });
    call.on('status', (found) => (ending ??= end(found)));
    // The same as `status`; without a listener it would end the process.
    call.on('error', () => {});
    // After the last message: `status` may overtake it.
    call.on('close', () => {
      clearTimeout(silence);
      detach();
      resolve(ending ?? end({ code: status.OK, details: '' }));
    });
    return promise;
  }

  function jwtSvid(audiences: readonly string[], spiffeId: string): Promise<Uint8Array | Ending> {
    if (closing.signal.aborted) return Promise.resolve(letGo);
    const { promise, resolve } = Promise.withResolvers<Uint8Array | Ending>();
    const request = requestBytes('JWTSVID', { audience: [...audiences], spiffeId });
    const deadline = { deadline: Date.now() + patience.tokenMs };
    const path = pathOf('FetchJWTSVID');
    const call = client.makeUnaryRequest(path, same, same, request, header(), deadline, (error, answer) => {
      detach();
      if (error?.code === status.DEADLINE_EXCEEDED) return resolve(silent(patience.tokenMs));
      return resolve(answer ?? end(error ?? { code: status.OK, details: '' }));
    });
    const detach = cancelWith(call, closing.signal);
    return promise;
  }

  return {
    x509Svids: (take, signal) => follow('FetchX509SVID', take, signal),
    x509Bundles: (take, signal) => follow('FetchX509Bundles', take, signal),
    jwtBundles: (take, signal) => follow('FetchJWTBundles', take, signal),
    jwtSvid,
    close: () => {
      closing.abort();
      client.close();
    },
  };
}

/** Until the returned is called. */
function cancelWith(call: { cancel(): void }, signal: AbortSignal): () => void {
  const cancel = (): void => call.cancel();
  signal.addEventListener('abort', cancel, { once: true });
  return () => signal.removeEventListener('abort', cancel);
}

const silent = (ms: number): Ending => ({
  kind: 'unreachable',
  sentence: `the SPIRE agent did not answer within ${ms / 1000} s`,
});
const letGo: Ending = { kind: 'ended', sentence: 'the SPIRE agent is no longer asked' };

const same = (bytes: Buffer): Buffer => bytes;
const pathOf = (method: string): string => `/SpiffeWorkloadAPI/${method}`;
const requestBytes = (of: string, fields: Parameters<typeof bytesOf>[1]): Buffer =>
  Buffer.from(bytesOf(`${of}Request`, fields));

/** What tells the agent that a workload asks, and no web page that was led to its address (SPIFFE Workload Endpoint, section 5). */
function header(): Metadata {
  const metadata = new Metadata();
  metadata.set('workload.spiffe.io', 'true');
  return metadata;
}

/** What the system says of a socket that does not answer, in words. */
const socketFaults: readonly (readonly [code: string, words: string])[] = [
  ['ENOENT', 'there is no such socket; the agent has not started on this node, or the socket is not mounted'],
  ['ECONNREFUSED', 'nothing listens on it; the agent is not running'],
  ['EACCES', 'this user may not connect to it'],
];

function endingOf({ code, details }: Pick<StatusObject, 'code' | 'details'>, socketPath: string): Ending {
  const shown = plain(details, 300);
  switch (code) {
    case status.OK:
      return { kind: 'ended', sentence: 'the SPIRE agent closed the stream' };
    case status.PERMISSION_DENIED:
      return { kind: 'no-entry', sentence: `the SPIRE agent knows no entry (${shown})` };
    case status.UNAVAILABLE: {
      const words = socketFaults.find(([name]) => details.includes(name))?.[1] ?? shown;
      return { kind: 'unreachable', sentence: `the SPIRE agent does not answer at ${socketPath}: ${words}` };
    }
    default:
      return { kind: 'failed', sentence: `the SPIRE agent answered with ${status[code]}: ${shown}` };
  }
}
