/** The pods of the target, judged: how many are injected, which are bare (AD-03), whether new ones come at all, and which configuration they run. */

import type { Finding } from '../api/conditions.ts';
import type { PodCounts } from '../workload/pod-counts.ts';
import type { Workload } from '../workload/workload.ts';
import type { PodFacts } from './observed.ts';
import type { Obstacle } from './obstacles.ts';
import { ofOlderPods, refused, stalled } from './pod-obstacles.ts';
import type { Snag } from './snags.ts';

export interface Sweep {
  readonly configuredPods: number;
  readonly finding: Finding;
  /** Why `Ready` is False: new pods are refused, or do not come. */
  readonly obstacle: Obstacle | undefined;
  /** Look again then: a rollout that goes on is judged when its newest pod has had time to start. */
  readonly afterMs: number | undefined;
}

export interface SweepInput {
  readonly workload: Workload;
  readonly pods: readonly PodFacts[];
  readonly counts: PodCounts;
  /** Pods from before the enrolment, which the watch does not see. */
  readonly unseen: number;
  readonly snag: Snag | undefined;
  /** Why pods are not expected to be injected, if so. */
  readonly off: string | undefined;
  /** The hash on the template. */
  readonly hash: string | undefined;
  readonly isRolling: boolean;
  /** What status says of this very workload. */
  readonly previous: Previous;
  readonly now: Date;
}

export interface Previous {
  /** While a rollout goes on it stands, so that pods coming and going cost one status write and not one each. */
  readonly count: number | undefined;
  /** The finding of type `PodsInjected`. */
  readonly finding: Finding | undefined;
}

/** A rollout whose newest pod of the new template is older than this has settled, finished or not. */
const settleMs = 60_000;
const namesShown = 10;
const type = 'PodsInjected';

export function sweep(input: SweepInput): Sweep {
  const obstacle = input.off === undefined ? obstacleOf(input) : undefined;
  const unsettledMs = input.isRolling ? unsettledFor(input) : undefined;
  const isSettled = unsettledMs === undefined || obstacle !== undefined;
  const injected = input.pods.filter((pod) => pod.isInjected);
  return {
    configuredPods: isSettled ? injected.length : (input.previous.count ?? 0),
    finding: obstacle === undefined ? { type, ...judgement(input, isSettled) } : findingOf(obstacle),
    obstacle,
    afterMs: soonest(isSettled || unsettledMs === 0 ? undefined : unsettledMs, graceLeft(input.snag)),
  };
}

function findingOf({ reason, message }: Obstacle): Finding {
  return { type, status: 'False', reason, message };
}

const obstacles: readonly string[] = ['PodsRefused', 'RolloutStalled'];

/** Told once it has lasted, and then until something else is seen: a restarted operator does not take it back. */
function obstacleOf({ workload, counts, unseen, snag, previous }: SweepInput): Obstacle | undefined {
  if (snag === undefined || snag.kind === 'unseen') return undefined;
  const standing = obstacles.includes(previous.finding?.reason ?? '') ? previous.finding : undefined;
  if (hasLasted(snag) || (standing !== undefined && snag.kind === 'refused')) {
    return counts.refusal === undefined ? stalled(workload, counts, unseen) : refused(workload, counts.refusal, unseen);
  }
  return standing === undefined ? undefined : asSaid(standing);
}

function asSaid({ reason, message }: Finding): Obstacle {
  return reason === 'PodsRefused'
    ? { reason: 'PodsRefused', phase: 'Error', message }
    : { reason: 'RolloutStalled', phase: 'Pending', message };
}

function hasLasted({ lastedMs, graceMs }: Snag): boolean {
  return lastedMs >= graceMs;
}

function graceLeft(snag: Snag | undefined): number | undefined {
  return snag === undefined || hasLasted(snag) ? undefined : snag.graceMs - snag.lastedMs;
}

function soonest(...times: readonly (number | undefined)[]): number | undefined {
  const known = times.filter((time) => time !== undefined);
  return known.length === 0 ? undefined : Math.min(...known);
}

/** Milliseconds until a rollout counts as settled; 0: the first pod of the new template is awaited; undefined: settled. */
function unsettledFor({ pods, hash, now }: SweepInput): number | undefined {
  const fresh = pods.filter((pod) => pod.hash === hash);
  if (fresh.length === 0) return 0;
  const newest = Math.max(...fresh.map(({ createdAt }) => Date.parse(createdAt) || 0));
  const leftMs = newest + settleMs - now.getTime();
  return leftMs > 0 ? leftMs : undefined;
}

type Verdict = Omit<Finding, 'type'>;

function judgement(input: SweepInput, isSettled: boolean): Verdict {
  const { pods, off } = input;
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
  return withoutEvidence(input, isSettled) ?? ofInjected(input, isSettled);
}

/** Of pods that must exist and are not seen; undefined: all that exist are seen. What began as awaited ends when the rollout has settled. */
function withoutEvidence(input: SweepInput, isSettled: boolean): Verdict | undefined {
  const { workload, pods, counts, unseen, snag, previous } = input;
  const standing = previous.finding;
  const wasSaid = standing?.reason === 'PodsWithoutSidecars';
  if (unseen > 0 && snag?.kind === 'unseen' && (wasSaid || hasLasted(snag))) {
    return { status: 'False', reason: 'PodsWithoutSidecars', message: ofOlderPods(workload) };
  }
  const isAwaited = standing?.reason === 'PodsAwaited' && !isSettled;
  if (!isAwaited && unseen === 0 && (counts.wanted === 0 || pods.length > 0)) return undefined;
  return standing !== undefined && lasting.includes(standing.reason) ? verdictOf(standing) : awaited(input);
}

/** What was known of the pods stands while their successors are awaited. */
const lasting: readonly string[] = ['AllInjected', 'OlderDefaults', 'PodsOutdated', 'PodsWithoutSidecars'];

function verdictOf({ status, reason, message }: Finding): Verdict {
  return { status, reason, message };
}

/** The same words while a rollout goes on: a DaemonSet ends its pods before it makes their successors, a Deployment afterwards. */
function awaited({ workload: { ref } }: SweepInput): Verdict {
  const message = `Pods of ${ref.kind} ${ref.name} that are made from the enrolled template are awaited; Kubernetes replaces those from before it in its own order.`;
  return { status: 'Unknown', reason: 'PodsAwaited', message };
}

/** There is at least one pod, or none is wanted, and all are injected. */
function ofInjected({ pods, hash }: SweepInput, isSettled: boolean): Verdict {
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
