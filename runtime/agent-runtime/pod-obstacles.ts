/** What keeps new pods from coming, and what is said of those from before: sentences that hold no count and no pod's name, so that they stand. */

import type { PodCounts } from '../workload/pod-counts.ts';
import type { Workload } from '../workload/workload.ts';
import { error, type Obstacle } from './obstacles.ts';

/** The API server's own sentence, which is a webhook's where one has refused. */
export function refused(workload: Workload, refusal: string, unseen: number): Obstacle {
  const { kind, name } = workload.ref;
  const sentence = /[.!?…]$/.test(refusal) ? refusal : `${refusal}.`;
  return error(
    'PodsRefused',
    `New pods of ${kind} ${name} are refused: ${sentence} Correct what it names; Kubernetes goes on trying.${olderRun(unseen)}`,
  );
}

/** The kinds whose status gives no reason. */
export function stalled(workload: Workload, { lacking }: PodCounts, unseen: number): Obstacle {
  const { namespace, ref } = workload;
  const { kind, name } = lacking ?? ref;
  const message = `${kind} ${name} makes no new pod. Its events say why: kubectl describe ${kind.toLowerCase()} ${name} -n ${namespace}.${olderRun(unseen)}`;
  return { reason: 'RolloutStalled', phase: 'Pending', message };
}

function olderRun(unseen: number): string {
  return unseen > 0 ? ' Pods from before its enrolment run on without sidecars.' : '';
}

/** Of pods from before the enrolment that nothing replaces. */
export function ofOlderPods({ row, ref: { kind, name } }: Workload): string {
  const why = row.restartsPods
    ? 'They stay while spec.paused is true, while updateStrategy waits for a person, and while a new pod does not become ready'
    : 'They end with their Job';
  return `Pods of ${kind} ${name} from before its enrolment run without sidecars. ${why}.`;
}
