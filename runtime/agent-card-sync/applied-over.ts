/** Whether somebody besides the operator has written into a generated card, by the API server's own record. */

import type { ManagedFields } from '../engine/types.ts';

/** What Kubernetes' garbage collection and the operator's own bookkeeping write: nobody's wish about the card. */
const bookkeeping: readonly string[] = ['f:finalizers', 'f:ownerReferences'];

/** The manager that wrote last, by time; undefined when nobody but `ours` has written anything but bookkeeping. */
export function appliedOverBy(entries: readonly ManagedFields[], ours: string): string | undefined {
  return entries
    .filter(({ manager, subresource }) => manager !== ours && (subresource ?? '') === '')
    .filter(({ fieldsV1 }) => saysSomething(fieldsV1))
    .sort((a, b) => (a.time ?? '').localeCompare(b.time ?? ''))
    .at(-1)?.manager;
}

/** Owns anything outside the bookkeeping below metadata. */
function saysSomething(fields: unknown): boolean {
  const { 'f:metadata': metadata, ...others } = record(fields);
  return Object.keys(others).length > 0 || Object.keys(record(metadata)).some((key) => !bookkeeping.includes(key));
}

function record(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
}
