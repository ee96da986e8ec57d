/** Whether somebody besides the operator has written what a generated card says, by the API server's own record. */

import type { ManagedFields } from '../engine/types.ts';

/**
 * The manager that wrote last, by time; undefined when nobody but `ours` has written into the spec. Labels, annotations and owners say nothing of
 * it: policy engines and GitOps tools put theirs on every object.
 */
export function appliedOverBy(entries: readonly ManagedFields[], ours: string): string | undefined {
  return entries
    .filter(({ manager, subresource }) => manager !== ours && (subresource ?? '') === '')
    .filter(({ fieldsV1 }) => statesSpec(fieldsV1))
    .sort((a, b) => (a.time ?? '').localeCompare(b.time ?? ''))
    .at(-1)?.manager;
}

/** In it `kubectl apply` keeps the manifest: the only trace of one whose spec was there already, word for word. */
const manifest = 'f:kubectl.kubernetes.io/last-applied-configuration';

function statesSpec(fields: unknown): boolean {
  const { 'f:spec': spec, 'f:metadata': metadata } = record(fields);
  return spec !== undefined || manifest in record(record(metadata)['f:annotations']);
}

function record(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
}
