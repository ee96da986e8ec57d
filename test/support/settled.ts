/** Waits until an operator of a test has done all it had to do, and the API server's audit log tells of it. */

import assert from 'node:assert/strict';
import type { EventRecorder } from '../../runtime/engine/events.ts';
import type { Metrics } from '../../runtime/engine/metrics.ts';
import { type AuditLog, isWrite } from './audit-log.ts';
import { eventually } from './engine-bed.ts';

export interface Settling {
  readonly metrics: Metrics;
  readonly events: EventRecorder;
  /** Of this operator alone. */
  readonly audit: AuditLog;
  /** Their names. */
  readonly controllers: readonly string[];
}

/**
 * A status is seen before its pass has recorded the event, an event is recorded before it is written, and an answer comes before its line in the
 * audit log: whoever counts any of these waits for all of them.
 */
export async function settled({ metrics, events, audit, controllers }: Settling): Promise<void> {
  await untilIdle(metrics, controllers);
  await events.idle();
  await eventually(async () => assert.equal(audit.requests().filter(isWrite).length, await writesAnswered([metrics])));
}

/** No key waits and no pass runs; a key that was woken before has had its pass. */
export async function untilIdle(metrics: Metrics, controllers: readonly string[]): Promise<void> {
  await eventually(async () => {
    const lines = (await metrics.text()).split('\n');
    for (const name of controllers) {
      const ofKeys = [`workqueue_depth{name="${name}"} `, `controller_runtime_active_workers{controller="${name}"} `];
      // Without a series it never had a key.
      const busy = lines.filter((line) => ofKeys.some((series) => line.startsWith(series)) && !line.endsWith(' 0'));
      assert.deepEqual(busy, []);
    }
  });
}

const answeredWrite = /^rest_client_requests_total\{code="\d+",method="(?:POST|PUT|PATCH|DELETE)"\} (\d+)$/gm;

/** How many writes the API server has answered to these operators together. */
export async function writesAnswered(operators: readonly Metrics[]): Promise<number> {
  const texts = await Promise.all(operators.map((metrics) => metrics.text()));
  return texts
    .flatMap((text) => [...text.matchAll(answeredWrite)])
    .map(([, count]) => Number(count))
    .reduce((sum, count) => sum + count, 0);
}
