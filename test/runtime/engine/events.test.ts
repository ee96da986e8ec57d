import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createClient } from '../../../runtime/engine/client.ts';
import { ApiUnreachable, LostLease } from '../../../runtime/engine/errors.ts';
import type { Happening } from '../../../runtime/engine/event-series.ts';
import { createEvents } from '../../../runtime/engine/events.ts';
import { createMetrics } from '../../../runtime/engine/metrics.ts';
import type { RequestSpec } from '../../../runtime/engine/transport.ts';
import type { Kind } from '../../../runtime/engine/types.ts';
import { memoryLog } from '../../support/engine-bed.ts';
import { fakeClock } from '../../support/fake-clock.ts';
import { refused, scriptedTransport } from '../../support/scripted-transport.ts';

const pods: Kind = { apiVersion: 'v1', kind: 'Pod', plural: 'pods', namespaced: true };
const happening = (note = 'it is odd', name = 'p'): Happening => ({
  notice: { type: 'Warning', reason: 'Odd', action: 'Look', note },
  regarding: { kind: pods, namespace: 'n', name, uid: name },
  controller: 'c',
});

function rig(answer: (spec: RequestSpec) => unknown = () => ({})) {
  const clock = fakeClock();
  const transport = scriptedTransport(answer);
  const metrics = createMetrics({ process: false });
  const events = createEvents({ client: createClient(transport), clock, log: memoryLog(), metrics, instance: 'pod-1' });
  const dropped = async (cause: string): Promise<number> => {
    const line = (await metrics.text())
      .split('\n')
      .find((one) => one.startsWith(`events_dropped_total{cause="${cause}"}`));
    return Number(line?.split(' ')[1] ?? 0);
  };
  return { clock, events, sent: transport.sent, dropped };
}

test('OB-02: the first is created, the second makes it a series, later ones only count, until half an hour has passed', async () => {
  const { clock, events, sent } = rig();
  for (let minute = 0; minute < 35; minute += 1) {
    events.record(happening());
    await clock.advance(60_000);
  }
  assert.deepEqual(
    sent.map(({ method }) => method),
    ['POST', 'PATCH', 'PATCH'],
  );
  assert.deepEqual(sent[1]?.body, { series: { count: 2, lastObservedTime: '2026-01-02T03:05:05.678000Z' } });
});

test('failures never reach the caller: refusals are given up, silence is tried again four times', async () => {
  for (const status of [403, 404, 422]) {
    const { clock, events, sent, dropped } = rig(() => {
      throw refused(status);
    });
    events.record(happening());
    await clock.advance(600_000);
    assert.equal(sent.length, 1);
    assert.equal(await dropped(String(status)), 1);
  }
  const { clock, events, sent, dropped } = rig(() => {
    throw new ApiUnreachable('', new Error('silent'));
  });
  events.record(happening());
  await clock.advance(600_000);
  assert.equal(sent.length, 4);
  assert.equal(await dropped('unreachable'), 1);
});

test('LE-02: without the lease nothing is written', async () => {
  const { clock, events, sent } = rig();
  events.record(happening(), () => {
    throw new LostLease('gone');
  });
  await clock.advance(60_000);
  assert.equal(sent.length, 0);
});

test('one object may say 25 things, then one in five minutes; others are not concerned', async () => {
  const { clock, events, sent, dropped } = rig();
  for (let i = 0; i < 40; i += 1) events.record(happening(`note ${i}`));
  events.record(happening('mine', 'other'));
  await events.idle();
  assert.equal(sent.length, 26);
  assert.equal(await dropped('limited'), 15);
  await clock.advance(300_000);
  events.record(happening('later'));
  await events.idle();
  assert.equal(sent.length, 27);
});

test('the queue is bounded, and a stop writes what is waiting but takes no more', async () => {
  const { promise, resolve } = Promise.withResolvers<object>();
  const { clock, events, sent, dropped } = rig(() => promise);
  for (let i = 0; i < 1_200; i += 1) events.record(happening('x', `p${i}`));
  assert.equal(await dropped('full'), 200);
  const stopped = events.stop();
  events.record(happening('late', 'late'));
  resolve({});
  await clock.advance(0);
  await stopped;
  assert.equal(sent.length, 1_000);
  assert.equal(clock.timers, 0);
});

test('a few are written at once, one series never twice: what is said meanwhile is counted by the next write', async () => {
  const { promise, resolve } = Promise.withResolvers<object>();
  const { events, sent } = rig(() => promise);
  for (let i = 0; i < 20; i += 1) events.record(happening('x', `p${i}`));
  await Promise.resolve();
  await Promise.resolve();
  assert.ok(sent.length > 1 && sent.length < 20, `${sent.length} at once`);
  events.record(happening('x', 'p0'));
  events.record(happening('x', 'p0'));
  resolve({});
  await events.idle();
  assert.equal(sent.filter(({ method }) => method === 'POST').length, 20);
  assert.deepEqual(
    sent
      .filter(({ method }) => method === 'PATCH')
      .map(({ body }) => (body as { series: { count: number } }).series.count),
    [3],
  );
});
