/** A process of its own that posts one body over a number of kept-alive TLS connections, a bounded number of times. */

import { Client } from 'undici';
import type { FromLoad, FromParent, LoadJob, LoadResult } from './load-protocol.ts';

interface Answer {
  readonly status: number;
  readonly body: string;
}

function say(message: FromLoad): void {
  process.send?.(message);
}

function connect(job: LoadJob): Client {
  const { ca, cert, key } = job;
  const identity = cert === undefined || key === undefined ? {} : { cert, key };
  return new Client(new URL(job.url).origin, { connect: { ca, ...identity }, allowH2: false, pipelining: 1 });
}

function post(client: Client, { url, body }: LoadJob): Promise<Answer> {
  const { pathname, search } = new URL(url);
  return new Promise((resolve, reject) => {
    let status = 0;
    const chunks: Buffer[] = [];
    client.dispatch(
      { method: 'POST', path: pathname + search, body, headers: { 'content-type': 'application/json' } },
      {
        onRequestStart: () => {},
        onResponseStart: (_controller, statusCode) => {
          status = statusCode;
        },
        onResponseData: (_controller, chunk) => void chunks.push(chunk),
        onResponseEnd: () => resolve({ status, body: Buffer.concat(chunks).toString('utf8') }),
        onResponseError: (_controller, error) => reject(error),
      },
    );
  });
}

/** Shares `count` requests among the connections. */
async function spread(
  clients: readonly Client[],
  count: number,
  each: (client: Client) => Promise<void>,
): Promise<void> {
  let left = count;
  const work = async (client: Client): Promise<void> => {
    while (left > 0) {
      left -= 1;
      await each(client);
    }
  };
  await Promise.all(clients.map(work));
}

async function measure(clients: readonly Client[], job: LoadJob): Promise<LoadResult> {
  const latencies: number[] = [];
  const statuses: Record<string, number> = {};
  let body = '';
  const cpu = process.cpuUsage();
  const begun = performance.now();
  await spread(clients, job.requests, async (client) => {
    const sent = performance.now();
    const answer = await post(client, job);
    latencies.push(performance.now() - sent);
    statuses[answer.status] = (statuses[answer.status] ?? 0) + 1;
    ({ body } = answer);
  });
  const seconds = (performance.now() - begun) / 1000;
  const used = process.cpuUsage(cpu);
  return { seconds, latencies, statuses, body, cpuMs: (used.user + used.system) / 1000 };
}

async function run(job: LoadJob, go: Promise<void>): Promise<void> {
  const clients = Array.from({ length: job.connections }, () => connect(job));
  await spread(clients, Math.max(job.connections, job.warmUp), async (client) => void (await post(client, job)));
  say('ready');
  await go;
  say({ result: await measure(clients, job) });
  await Promise.all(clients.map((client) => client.close()));
}

const { promise: go, resolve: start } = Promise.withResolvers<void>();
process.on('disconnect', () => process.exit(0));
process.on('message', (message: FromParent) => {
  if (message === 'go') return start();
  run(message.job, go).catch((error: unknown) =>
    say({ failure: error instanceof Error ? error.message : String(error) }),
  );
});
