/** Envoy's admin interface, over its Unix socket. */

import http from 'node:http';

export interface Answer {
  readonly status: number;
  readonly contentType: string;
  readonly body: string;
}

export interface AdminClient {
  /** Path with its query (`/ready`). Rejects when Envoy is not there or does not answer in time. */
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
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        const contentType = response.headers['content-type'] ?? 'text/plain';
        resolve({ status: response.statusCode ?? 0, contentType, body: Buffer.concat(chunks).toString('utf8') });
      });
    });
    sent.on('error', reject);
    sent.end();
  });
}
