/** The pods of the target, judged: how many are injected, which are bare (AD-03), and whether they run the configuration of the template. */

import type { Finding } from '../api/conditions.ts';
import type { PodFacts } from './observed.ts';

export interface Sweep {
  readonly configuredPods: number;
  readonly finding: Finding;
  /** Look again then: a rollout that goes on is judged when its newest pod has had time to start. */
  readonly afterMs: number | undefined;
}

export interface SweepInput {
  readonly pods: readonly PodFacts[];
  /** Why pods are not expected to be injected, if so. */
  readonly off: string | undefined;
  /** The hash on the template. */
  readonly hash: string | undefined;
  readonly isRolling: boolean;
  /** The count in status. While a rollout goes on it stands, so that pods coming and going cost one status write and not one each. */
  readonly previousCount: number | undefined;
  readonly now: Date;
}

/** A rollout whose newest pod of the new template is older than this has settled, finished or not. */
const settleMs = 60_000;
const namesShown = 10;

export function sweep(input: SweepInput): Sweep {
  const injected = input.pods.filter((pod) => pod.isInjected);
  const unsettledMs = input.isRolling ? unsettledFor(input) : undefined;
  const isSettled = unsettledMs === undefined;
  return {
    configuredPods: isSettled ? injected.length : (input.previousCount ?? 0),
    finding: { type: 'PodsInjected', ...judgement(input, isSettled) },
    afterMs: isSettled || unsettledMs === 0 ? undefined : unsettledMs,
  };
}

/** Milliseconds until a rollout counts as settled; 0: the first pod of the new template is awaited; undefined: settled. */
function unsettledFor({ pods, hash, now }: SweepInput): number | undefined {
  const fresh = pods.filter((pod) => pod.hash === hash);
  if (fresh.length === 0) return 0;
  const newest = Math.max(...fresh.map(({ createdAt }) => Date.parse(createdAt) || 0));
  const leftMs = newest + settleMs - now.getTime();
  return leftMs > 0 ? leftMs : undefined;
}

function judgement({ pods, off, hash }: SweepInput, isSettled: boolean): Omit<Finding, 'type'> {
  if (off !== undefined) {
    return { status: 'False', reason: 'InjectionOff', message: `New pods get no sidecars: ${off}` };
  }
  const bare = pods.filter((pod) => !pod.isInjected);
  if (bare.length > 0) {
    return {
      status: 'False',
      reason: 'PodsWithoutSidecars',
      message: `Pods that run without sidecars: ${listed(bare)}. Delete them, so that their successors are injected.`,
    };
  }
  const outdated = isSettled
    ? pods.filter((pod) => pod.hash !== undefined && hash !== undefined && pod.hash !== hash)
    : [];
  if (outdated.length > 0) {
    return {
      status: 'False',
      reason: 'PodsOutdated',
      message: `Pods that run an older configuration: ${listed(outdated)}. They have it until they are replaced.`,
    };
  }
  const older = isSettled ? pods.filter((pod) => !pod.hasOurDefaults) : [];
  if (older.length > 0) {
    return {
      status: 'True',
      reason: 'OlderDefaults',
      message: `Every pod carries the sidecars. Pods built with the defaults of another release: ${listed(older)}. They take this release's when they are replaced.`,
    };
  }
  return { status: 'True', reason: 'AllInjected', message: 'Every pod of the target carries the sidecars.' };
}

function listed(pods: readonly PodFacts[]): string {
  const names = pods.map(({ name }) => name).sort();
  return `${names.slice(0, namesShown).join(', ')}${names.length > namesShown ? ' and more' : ''}`;
}
