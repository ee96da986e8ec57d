/** The verified label on a workload and its pods: what is to be written so that it says what the verdict says. */

import { labels } from '../api/names.ts';
import type { MergePatch } from '../engine/types.ts';
import type { Marked, Observed } from './observed.ts';
import type { Verdict } from './verdict.ts';

/**
 * Patches for whatever does not say so already; never one on the pod template, because a verdict must not restart pods. Removals come first:
 * when a write fails and stops the rest, nothing is left open that is to be closed. And as a plan writes patches before the status, no status
 * ever says "closed" while a pod still bears the label.
 */
export function labelPatches(observed: Observed, verdict: Verdict): readonly MergePatch[] {
  const { former, marked, strays, obstacle } = observed;
  const isOthers = obstacle?.reason === 'DuplicateTarget';
  if (isOthers) return removals(former);
  if (!isLabelled(observed, verdict)) return removals([...former, ...strays, ...marked]);
  const missing = marked.filter(({ value }) => value !== 'true').map(({ ref }) => patch(ref, 'true'));
  return [...removals(former), ...missing];
}

/** From whatever bears it, with whatever value. */
export function removals(marked: readonly Marked[]): readonly MergePatch[] {
  return marked.filter(({ value }) => value !== undefined).map(({ ref }) => patch(ref, null));
}

function isLabelled({ policy }: Observed, verdict: Verdict): boolean {
  return policy.isRequired && !policy.isAudit && verdict.kind !== 'off' && verdict.isVerified;
}

/** `null` takes it away. */
export function patch(target: Marked['ref'], value: 'true' | null): MergePatch {
  // A pod can end at any time, and a StatefulSet's next one has its name: neither is a failure, and the next one is seen by itself.
  return { target, body: { metadata: { labels: { [labels.signatureVerified]: value } } }, mayBeGone: true };
}
