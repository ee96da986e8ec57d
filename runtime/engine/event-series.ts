/** What an event looks like, and when a repetition of it is written again: the rules of `events.k8s.io/v1`, without I/O. */

import { createHash } from 'node:crypto';
import { leaseTime } from './lease-record.ts';
import type { KubeObject, Notice, ObjectRef } from './types.ts';

/** Something that happened to an object, seen by a controller. */
export interface Happening {
  readonly notice: Notice;
  readonly regarding: ObjectRef;
  readonly controller: string;
}

/** The API server refuses longer ones. */
const longestNote = 1024;
/** A series is written again after this long while it goes on. */
export const refreshMs = 30 * 60_000;
/** A series without news for this long is over: the next one is a new event. */
export const finishedMs = 6 * 60_000;

/** One event and how often it has happened. */
export interface Series {
  readonly happening: Happening;
  /** Name of the Event object. */
  readonly name: string;
  count: number;
  /** Wall clock of the last time. */
  last: Date;
  lastMs: number;
  /** Count and monotonic time of the last write; 0: never written. */
  writtenCount: number;
  writtenMs: number;
}

/** Two happenings are the same event when this is equal. The note belongs to it: another sentence is other news. */
export function seriesKey({ notice, regarding, controller }: Happening): string {
  const { kind, namespace, name, uid } = regarding;
  return [notice.type, notice.action, notice.reason, notice.note, controller, kind.kind, namespace, name, uid].join(
    '\0',
  );
}

export function objectText({ kind, namespace, name, uid }: ObjectRef): string {
  return [kind.apiVersion, kind.kind, namespace, name, uid].join('\0');
}

export function startSeries(happening: Happening, now: Date, nowMs: number): Series {
  const digest = createHash('sha256')
    .update(`${seriesKey(happening)}\0${now.getTime()}\0${nowMs}`)
    .digest('hex');
  const name = `${happening.regarding.name.slice(0, 230)}.${digest.slice(0, 16)}`;
  return { happening, name, count: 1, last: now, lastMs: nowMs, writtenCount: 0, writtenMs: 0 };
}

/** The first and the second time are written; then the count only grows in memory, written again when half an hour has passed. */
export function isDue(series: Series, nowMs: number): boolean {
  if (series.count === series.writtenCount) return false;
  return series.writtenCount < 2 || nowMs - series.writtenMs >= refreshMs;
}

export function isFinished(series: Series, nowMs: number): boolean {
  return nowMs - series.lastMs >= finishedMs;
}

/** Cut at the API server's limit, on a whole character. */
export function fittingNote(note: string): string {
  if (Buffer.byteLength(note) <= longestNote) return note;
  let cut = note.slice(0, longestNote - 3);
  while (Buffer.byteLength(cut) > longestNote - 3) cut = cut.slice(0, -1);
  return `${cut.replace(/[\uD800-\uDBFF]$/, '')}…`;
}

/** The event as it is created. Events of cluster-scoped objects live in `default`. */
export function eventObject(series: Series, instance: string): KubeObject & Readonly<Record<string, unknown>> {
  const { notice, regarding, controller } = series.happening;
  const { kind, namespace, name, uid } = regarding;
  return {
    apiVersion: 'events.k8s.io/v1',
    kind: 'Event',
    metadata: { name: series.name, namespace: namespace ?? 'default' },
    eventTime: leaseTime(series.last),
    type: notice.type,
    reason: notice.reason.slice(0, 128),
    action: notice.action.slice(0, 128),
    note: fittingNote(notice.note),
    reportingController: controller,
    reportingInstance: instance.slice(0, 128),
    regarding: { apiVersion: kind.apiVersion, kind: kind.kind, namespace, name, uid },
    ...(series.count > 1 ? seriesField(series) : {}),
  };
}

/** The part that changes with each repetition. */
export function seriesField({ count, last }: Series): Readonly<Record<string, unknown>> {
  return { series: { count, lastObservedTime: leaseTime(last) } };
}
