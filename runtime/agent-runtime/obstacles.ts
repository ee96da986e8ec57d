/** What can stand in the way of an enrolment, each with its reason and the sentence that says what to do. */

import type { AgentRuntime } from '../api/agent-runtime.ts';
import type { agentRuntimeReasons } from '../api/conditions.ts';
import type { Workload } from '../workload/workload.ts';
import type { Configuration } from './observed.ts';
import { sentences } from './sentences.ts';

/** Why `Ready` is False. `phase` says whether a person must act (`Error`) or an event is awaited (`Pending`). */
export interface Obstacle {
  readonly reason: (typeof agentRuntimeReasons.Ready)[number];
  readonly phase: 'Pending' | 'Error';
  readonly message: string;
}

export const error = (reason: Obstacle['reason'], message: string): Obstacle => ({ reason, phase: 'Error', message });

/** Of an AgentRuntime where no pod is ever injected; `never` says where that is. */
export function systemNamespace(never: string): Obstacle {
  return error(
    'SystemNamespace',
    `${never}, so nothing is enrolled. Delete this AgentRuntime; an agent belongs in another namespace.`,
  );
}

export function targetNotFound({ spec, metadata }: AgentRuntime): Obstacle {
  const { kind, name } = spec.targetRef;
  const message = `${kind} ${name} does not exist in namespace ${metadata.namespace ?? ''}. Create it, or correct spec.targetRef; enrolment follows by itself.`;
  return { reason: 'TargetNotFound', phase: 'Pending', message };
}

export function targetUnreadable({ spec }: AgentRuntime, why: string): Obstacle {
  const { kind } = spec.targetRef;
  const message = `Objects of kind ${kind} cannot be read, so this AgentRuntime waits; all others are served. Give the operator's account the right that is missing. ${why}`;
  return error('TargetUnavailable', sentences([message]));
}

export function duplicate(winner: AgentRuntime, workload: Workload): Obstacle {
  const name = winner.metadata.name ?? '';
  return error(
    'DuplicateTarget',
    `AgentRuntime ${name} is older and has ${workload.ref.kind} ${workload.name} as its target. Delete one of the two, or change spec.targetRef.`,
  );
}

export function immutable(workload: Workload): Obstacle {
  return error(
    'TargetImmutable',
    `The pod template of ${workload.ref.kind} ${workload.name} cannot be changed any more. Create it anew with spec.suspend: true, and resume it when this AgentRuntime is Active.`,
  );
}

export function selectorConflict(workload: Workload, type: string): Obstacle {
  const { kind } = workload.ref;
  return error(
    'TargetImmutable',
    `The selector of ${kind} ${workload.name} asks for another value of label rossoctl.io/type than ${type}, and a selector cannot be changed. Create the ${kind} anew without that label in its selector.`,
  );
}

export function configurationObstacle({ problems }: Extract<Configuration, { readonly kind: 'broken' }>): Obstacle {
  const isUnavailable = problems.some((problem) => problem.kind === 'unavailable');
  return error(
    isUnavailable ? 'ConfigUnavailable' : 'ConfigInvalid',
    sentences(problems.map(({ message }) => message)),
  );
}
