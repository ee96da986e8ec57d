/** Requests to one API server: a shared connection, authentication, deadlines, limits, the retry policy, and metrics. */

import { Agent, buildConnector, type Dispatcher } from 'undici';
import { refusal } from './api-failure.ts';
import { type Clock, pause } from './clock.ts';
import { isOfDeadSession } from './dead-session.ts';
import { createDeadline, type Deadline } from './deadline.ts';
import { ApiError, ApiUnreachable } from './errors.ts';
import type { Connection } from './kubeconfig.ts';
import type { Limiter } from './limiter.ts';
import type { Metrics } from './metrics.ts';
import { catchStreamErrors } from './stream-errors.ts';
import { abandonable, tellsWhenSent, unreset, type WhenSent } from './unreset.ts';

export interface RequestSpec {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly query?: Readonly<Record<string, string | undefined>>;
  readonly body?: unknown;
  readonly contentType?: string;
  readonly accept?: string;
  readonly signal?: AbortSignal | undefined;
  /** For the whole request with its retries, in milliseconds. Default: the transport's. */
  readonly deadlineMs?: number | undefined;
  /** Most repetitions: of reads after any failure, of writes after 429 and 503 that say when. Default 3. */
  readonly retries?: number | undefined;
  /** Called right before each attempt; what it throws ends the request (the lease is held, or nothing is written). */
  readonly guard?: (() => void) | undefined;
}

export interface Transport {
  /** The answer's JSON. Throws `ApiError`, `ApiUnreachable`, or the signal's reason. */
  request(spec: RequestSpec): Promise<unknown>;
  /** The answer's body as it arrives; the caller ends it through the signal. No deadline once the answer has begun. */
  stream(spec: RequestSpec): Promise<AsyncIterable<Buffer>>;
  /** New requests take new connections; the old ones close when their requests have ended. */
  dropConnections(): void;
  /** Ends every connection and every request. */
  close(): Promise<void>;
}

export interface TransportOptions {
  readonly connection: Connection;
  readonly clock: Clock;
  readonly metrics: Metrics;
  readonly limiter: Limiter;
  /** Sent with each request and seen in the audit log. */
  readonly userAgent: string;
  /** Deadline of a request, in milliseconds. Default 30,000. */
  readonly deadlineMs?: number;
  /** To open a connection, TLS included, in milliseconds. Default 5,000. */
  readonly connectMs?: number;
  /** Between HTTP/2 pings, in milliseconds; one that is not answered by the next ends the connection. Default 15,000. */
  readonly pingMs?: number;
  /** Default true. */
  readonly allowH2?: boolean;
}

const longestRetryAfterMs = 30_000;

/** One transport has one pool of connections. */
export function createTransport(options: TransportOptions): Transport {
  const { connection, clock, limiter } = options;
  const origin = new URL(connection.server);
  const meter = requestMeter(options.metrics, clock);
  let agent = createAgent(options);
  const uncatch = catchStreamErrors();
  const retired = new Set<Dispatcher>();
  let droppedAt = -Infinity;

  const replace = (old: Dispatcher): void => {
    if (old !== agent) return;
    agent = createAgent(options);
    retired.add(old);
    const gone = (): boolean => retired.delete(old);
    old.close().then(gone, gone);
  };
  const dropConnections = (): void => {
    if (clock.monotonicMs() - droppedAt < 1_000) return;
    droppedAt = clock.monotonicMs();
    replace(agent);
  };

  /** One attempt, repeated once with fresh credentials after a 401, and once on a new connection when the present one takes no more requests. */
  async function attempt(spec: RequestSpec, signal: AbortSignal, again: Again = {}): Promise<Dispatcher.ResponseData> {
    const wait = limiter.reserve();
    if (wait > 0) await pause(clock, wait, signal);
    const authorization = await connection.authorization();
    signal.throwIfAborted();
    spec.guard?.();
    const done = meter(spec.method);
    const used = agent;
    try {
      const { pathname } = origin;
      const path = `${pathname === '/' ? '' : pathname}${spec.path}${queryOf(spec.query)}`;
      const send = (until: AbortSignal, when: WhenSent = {}) =>
        used.request({
          origin: origin.origin,
          path,
          method: spec.method,
          signal: until,
          headersTimeout: 0,
          bodyTimeout: 0,
          headers: headersOf(spec, options.userAgent, authorization),
          body: spec.body === undefined ? null : JSON.stringify(spec.body),
          ...when,
        });
      const response = await (spec.body === undefined ? send(signal) : unreset(send, signal));
      done(String(response.statusCode));
      if (response.statusCode !== 401 || again.isFresh) return response;
      await response.body.dump();
    } catch (error) {
      done('<error>');
      if (!isOfDeadSession(error)) throw error;
      replace(used);
      if (again.isReconnected) throw error;
      return attempt(spec, signal, { ...again, isReconnected: true });
    }
    connection.refresh();
    return attempt(spec, signal, { ...again, isFresh: true });
  }

  async function repeated<T>(spec: RequestSpec, signal: AbortSignal, read: Read<T>): Promise<T> {
    for (let retry = 0; ; retry += 1) {
      try {
        const response = await attempt(spec, signal);
        if (response.statusCode < 300) return await abandonable(read(response), signal);
        throw await failureOf(spec, response);
      } catch (error) {
        const failure = asFailure(spec, error, signal);
        const wait = retryDelayMs(spec, failure);
        if (wait === undefined || retry >= (spec.retries ?? 3)) throw failure;
        await pause(clock, wait, signal);
        signal.throwIfAborted();
      }
    }
  }

  /** Runs under the request's deadline; a deadline that passes condemns the connections too. */
  async function within<T>(spec: RequestSpec, run: (deadline: Deadline) => Promise<T>): Promise<T> {
    const deadline = createDeadline(clock, spec.signal, spec.deadlineMs ?? options.deadlineMs ?? 30_000);
    try {
      return await run(deadline);
    } catch (error) {
      deadline.end();
      if (deadline.isOver) dropConnections();
      throw spec.signal?.aborted === true ? spec.signal.reason : asFailure(spec, error);
    }
  }

  return {
    request: (spec) =>
      within(spec, async (deadline) => {
        const answer = await repeated(spec, deadline.signal, ({ body }): Promise<unknown> => body.json());
        deadline.end();
        return answer;
      }),
    stream: (spec) =>
      within(spec, async (deadline) => {
        const body = await repeated(spec, deadline.signal, (response) => Promise.resolve(response.body));
        deadline.disarm();
        return body;
      }),
    dropConnections,
    close: async () => {
      await Promise.all([agent, ...retired].map((one) => one.destroy()));
      uncatch();
    },
  };
}

/** What an attempt is repeated after. */
interface Again {
  readonly isFresh?: boolean;
  readonly isReconnected?: boolean;
}

type Read<T> = (response: Dispatcher.ResponseData) => Promise<T>;

type OpenConnection = (...to: Parameters<buildConnector.connector>) => Promise<void>;

function createAgent(options: TransportOptions): Dispatcher {
  const { allowH2 = true, connectMs = 5_000, pingMs = 15_000 } = options;
  const connect: buildConnector.connector = (target, callback) => void open(target, callback);
  const open: OpenConnection = async (target, callback) => {
    try {
      const tls = await options.connection.tls();
      buildConnector({ ...tls, allowH2, preferH2: allowH2, timeout: connectMs, keepAlive: true })(target, callback);
    } catch (error) {
      callback(error instanceof Error ? error : new Error(String(error)), null);
    }
  };
  const agent = new Agent({ connect, allowH2, h2Options: { pingInterval: pingMs }, keepAliveTimeout: 60_000 });
  return agent.compose(tellsWhenSent);
}

function headersOf(spec: RequestSpec, userAgent: string, authorization: string | undefined): Record<string, string> {
  return {
    'user-agent': userAgent,
    accept: spec.accept ?? 'application/json',
    ...(spec.body === undefined ? {} : { 'content-type': spec.contentType ?? 'application/json' }),
    ...(authorization === undefined ? {} : { authorization }),
  };
}

function queryOf(query: RequestSpec['query'] = {}): string {
  const text = new URLSearchParams(
    Object.entries(query).flatMap(([k, v]) => (v === undefined ? [] : [[k, v]])),
  ).toString();
  return text === '' ? '' : `?${text}`;
}

async function failureOf(spec: RequestSpec, { statusCode, headers, body }: Dispatcher.ResponseData): Promise<Error> {
  const request = `${spec.method} ${spec.path}`;
  return refusal({ status: statusCode, text: await body.text(), retryAfter: headers['retry-after'], request });
}

/** Our own errors as they are, everything else as "no answer"; an abort keeps its reason. */
function asFailure(spec: RequestSpec, error: unknown, signal?: AbortSignal): unknown {
  if (error instanceof Error && 'code' in error && /^(API_|LOST_LEASE|KUBECONFIG)/.test(String(error.code)))
    return error;
  return new ApiUnreachable(`${spec.method} ${spec.path}`, signal?.aborted === true ? signal.reason : error);
}

/** Undefined: not to be repeated. */
function retryDelayMs({ method }: RequestSpec, failure: unknown): number | undefined {
  if (failure instanceof ApiError && failure.retryAfterMs !== undefined) {
    const isBusy = failure.status === 429 || failure.status === 503;
    if (isBusy) return Math.min(failure.retryAfterMs, longestRetryAfterMs);
  }
  const isBroken = failure instanceof ApiUnreachable || (failure instanceof ApiError && failure.status >= 500);
  return isBroken && method === 'GET' ? 100 + 200 * Math.random() : undefined;
}

function requestMeter(metrics: Metrics, clock: Clock) {
  const total = metrics.counter<'code' | 'method'>({
    name: 'rest_client_requests_total',
    help: 'Requests to the API server by answer and method.',
    labels: ['code', 'method'],
  });
  const seconds = metrics.histogram<'method'>({
    name: 'rest_client_request_duration_seconds',
    help: 'Seconds until the API server began to answer.',
    labels: ['method'],
  });
  return (method: string) => {
    const begun = clock.monotonicMs();
    return (code: string): void => {
      total.inc({ code, method });
      seconds.observe({ method }, (clock.monotonicMs() - begun) / 1000);
    };
  };
}
