/** Envoy's admin interface, over its Unix socket. */

import http, { type IncomingMessage } from 'node:http';
import { gather } from '../../../encoding/gather.ts';

export interface Answer {
  readonly status: number;
  readonly contentType: string;
  readonly body: string;
}

export interface AdminClient {
  /** Path with its query (`/ready`). Rejects when Envoy is not there, does not answer in time, or answers with more than 16 MiB. */
  get(path: string): Promise<Answer>;
  post(path: string): Promise<Answer>;
  /** Values of Envoy's counters and gauges whose names match the regular expression, by name. */
  stats(filter: string): Promise<ReadonlyMap<string, number>>;
}

/** `timeoutMs` is for one request; default 2,000. */
export function adminClient(socketPath: string, timeoutMs = 2_000): AdminClient {
  const send = (method: string, path: string) => request({ socketPath, method, path, timeoutMs });
  return {
    get: (path) => send('GET', path),
    post: (path) => send('POST', path),
    stats: async (filter) => {
      const { body } = await send('GET', `/stats?filter=${encodeURIComponent(filter)}`);
      const lines = body.split('\n').flatMap((line) => {
        const [name, value] = line.split(': ');
        return name === undefined || value === undefined ? [] : [[name, Number(value)] as const];
      });
      return new Map(lines);
    },
  };
}

/** The largest page, its configuration, is a few hundred KB with a hundred certificates. */
const maxBytes = 16 * 1024 * 1024;

interface Request {
  readonly socketPath: string;
  readonly method: string;
  readonly path: string;
  readonly timeoutMs: number;
}

function request({ socketPath, method, path, timeoutMs }: Request): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const signal = AbortSignal.timeout(timeoutMs);
    // Node's agent would keep the connection, and Envoy counts it.
    const sent = http.request({ socketPath, method, path, signal, agent: false }, (response) => {
      read(response).then(resolve, reject);
    });
    sent.on('error', reject);
    sent.end();
  });
}

async function read(response: IncomingMessage): Promise<Answer> {
  const body = await gather(response, { maxBytes });
  const contentType = response.headers['content-type'] ?? 'text/plain';
  return { status: response.statusCode ?? 0, contentType, body: body.toString('utf8') };
}
