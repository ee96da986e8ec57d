/** Which field manager last wrote an object, ourselves and Kubernetes' own controllers left out. */

import type { ManagedFields } from '../engine/types.ts';

const kubernetes: readonly string[] = ['kube-controller-manager', 'kube-scheduler', 'kubelet'];

/** Undefined when nobody else left a trace: a manager that only removes fields owns none, and the API server forgets it. */
export function lastOtherManager(entries: readonly ManagedFields[], ours: string): string | undefined {
  return entries
    .filter(({ manager = '', subresource }) => isOther(manager, ours) && (subresource ?? '') === '')
    .sort((a, b) => (a.time ?? '').localeCompare(b.time ?? ''))
    .at(-1)?.manager;
}

function isOther(manager: string, ours: string): boolean {
  return manager !== '' && manager !== ours && !kubernetes.includes(manager);
}
