/** One start of the operator, measured: when it answers, what it asks and writes, what it uses. */

import { request as ask } from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';
import { webhooks } from '../../runtime/api/names.ts';
import type { BenchBed } from './bed.ts';
import { untilPlaneRests } from './plane-usage.ts';
import type { Usage } from './process-usage.ts';

export interface Start {
  /** Seconds from the start of the process. */
  readonly admission: number;
  readonly ready: number;
  /** Every watch has been answered. */
  readonly synced: number;
  /** Seconds of CPU by then. */
  readonly cpuSynced: number;
  /** Until quiet. */
  readonly cpu: number;
  readonly usage: Usage;
  readonly heapMib: number;
  readonly requests: number;
  readonly watches: number;
  readonly writes: number;
}

const reads: readonly string[] = ['get', 'list', 'watch'];
export const isWrite = ({ verb }: { readonly verb: string }): boolean => !reads.includes(verb);

/** Restarts the operator; `isAnswer` says which body counts as the first admission answered. */
export async function measureStart(
  bed: BenchBed,
  review: string,
  isAnswer: (body: string) => boolean = () => true,
): Promise<Start> {
  await untilPlaneRests(bed);
  const operator = await bed.restartOperator();
  const begun = performance.now();
  const [admission, ready, synced] = await Promise.all([
    firstAnswer(bed, review, isAnswer).then(() => (performance.now() - begun) / 1000),
    operator.untilReady(),
    operator.untilLogged('operator started').then((seconds) => ({ seconds, cpuMs: operator.usage().cpuMs })),
  ]);
  await bed.audit.untilQuiet(operator.startedAt);
  const asked = bed.audit.since(operator.startedAt);
  const total = await operator.metric('rest_client_requests_total');
  const usage = operator.usage();
  return {
    admission,
    ready,
    usage,
    synced: synced.seconds,
    cpuSynced: synced.cpuMs / 1000,
    cpu: usage.cpuMs / 1000,
    heapMib: (await operator.metric('nodejs_heap_size_used_bytes')) / 1024 ** 2,
    requests: asked.length,
    watches: Math.max(0, total - asked.length - bed.audit.leasesSince(operator.startedAt)),
    writes: asked.filter(isWrite).length,
  };
}

async function firstAnswer(bed: BenchBed, review: string, isAnswer: (body: string) => boolean): Promise<void> {
  for (;;) {
    const body = await post(bed.webhookPort, review);
    if (body !== undefined && isAnswer(body)) return;
    await sleep(5);
  }
}

/** The body of a 200; the certificate is not looked at, because before its first start the operator has none to compare with. */
function post(port: number, review: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    const to = { host: '127.0.0.1', port, path: webhooks.inject.path, method: 'POST', rejectUnauthorized: false };
    const asked = ask({ ...to, headers: { 'content-type': 'application/json' } }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', () => resolve(undefined));
      response.on('end', () => resolve(response.statusCode === 200 ? Buffer.concat(chunks).toString() : undefined));
    });
    asked.on('error', () => resolve(undefined));
    asked.end(review);
  });
}
