import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import {
  eventObject,
  fittingNote,
  type Happening,
  isDue,
  isFinished,
  seriesKey,
  startSeries,
} from '../../../runtime/engine/event-series.ts';
import type { Kind } from '../../../runtime/engine/types.ts';

const kind: Kind = { apiVersion: 'v1', kind: 'Pod', plural: 'pods', namespaced: true };
const happening = (more: Partial<Happening['notice']> = {}, name = 'p'): Happening => ({
  notice: { type: 'Warning', reason: 'Odd', action: 'Look', note: 'it is odd', ...more },
  regarding: { kind, namespace: 'n', name, uid: 'u' },
  controller: 'c',
});
const now = new Date('2026-01-02T03:04:05.678Z');

test('the same event is the same in type, action, reason, note, controller and object', () => {
  assert.equal(seriesKey(happening()), seriesKey(happening()));
  const others = [
    happening({ note: 'other' }),
    happening({ reason: 'Other' }),
    happening({ type: 'Normal' }),
    happening({}, 'q'),
  ];
  assert.equal(new Set([happening(), ...others].map(seriesKey)).size, 5);
});

test('the first two are written, then nothing for half an hour, then the count', () => {
  const series = startSeries(happening(), now, 0);
  const written: number[] = [];
  for (let ms = 0; ms <= 40 * 60_000; ms += 60_000) {
    if (ms > 0) series.count += 1;
    series.lastMs = ms;
    if (!isDue(series, ms)) continue;
    series.writtenCount = series.count;
    series.writtenMs = ms;
    written.push(ms / 60_000);
  }
  assert.deepEqual(written, [0, 1, 31]);
  assert.equal(isFinished(series, 45 * 60_000), false);
  assert.equal(isFinished(series, 46 * 60_000), true);
});

test('an event has the form of events.k8s.io/v1: the first without series, cluster-scoped objects in default', () => {
  const series = startSeries(happening(), now, 0);
  const first = eventObject(series, 'pod-1');
  assert.equal(first['series'], undefined);
  assert.equal(first['eventTime'], '2026-01-02T03:04:05.678000Z');
  assert.equal(first.metadata.namespace, 'n');
  series.count = 2;
  assert.deepEqual(eventObject(series, 'pod-1')['series'], {
    count: 2,
    lastObservedTime: '2026-01-02T03:04:05.678000Z',
  });
  const { notice, controller } = happening();
  const cluster = startSeries({ notice, controller, regarding: { kind, name: 'x' } }, now, 0);
  assert.equal(eventObject(cluster, 'i').metadata.namespace, 'default');
});

test('property: a note fits in 1,024 bytes and is cut on a whole character', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', minLength: 0, maxLength: 1_500 }), (note) => {
      const fitting = fittingNote(note);
      assert.ok(Buffer.byteLength(fitting) <= 1_024);
      assert.ok(fitting.isWellFormed());
      assert.ok(fitting === note || note.startsWith(fitting.slice(0, -1)));
    }),
  );
});
