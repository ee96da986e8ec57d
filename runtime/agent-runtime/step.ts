/** The next step of an enrolment: what the workload is to carry, whether that restarts pods, and what stands in its way. */

import { agentTypes } from '../api/agent-runtime.ts';
import { labels, managedBy } from '../api/names.ts';
import { neverInjected } from '../api/system-namespaces.ts';
import { type Enrolment, enrolled, selectsByType, takesManagedBy } from '../workload/fragment.ts';
import type { Workload } from '../workload/workload.ts';
import {
  configurationObstacle,
  duplicate,
  error,
  immutable,
  type Obstacle,
  selectorConflict,
  systemNamespace,
  targetNotFound,
  targetUnreadable,
} from './obstacles.ts';
import type { Configuration, Facts } from './observed.ts';
import { templateRefusal } from './template-refusal.ts';

export interface Step {
  /** What is to be written on the workload; undefined: it says so already, or must not be touched. */
  readonly apply: Enrolment | undefined;
  /** `rollout`: only the hash differs and pods will restart, which needs a place. */
  readonly pace: 'now' | 'rollout';
  /** The workload is this AgentRuntime's to write on. */
  readonly owns: Workload | undefined;
  readonly obstacle: Obstacle | undefined;
}

const untouched = (obstacle: Obstacle, owns?: Workload): Step => ({ apply: undefined, pace: 'now', owns, obstacle });

/** Pure, and asked twice: by `observe`, which asks for a place only when one is needed, and by `decide`. */
export function stepOf(facts: Facts): Step {
  const { target, runtime, operatorNamespace } = facts;
  const never = neverInjected(runtime.metadata.namespace ?? '', operatorNamespace);
  if (never !== undefined) return untouched(systemNamespace(never));
  if ('unsupported' in target) return untouched(error('TargetUnsupported', `${target.unsupported}.`));
  if ('missing' in target) return untouched(targetNotFound(runtime));
  if ('unreadable' in target) return untouched(targetUnreadable(runtime, target.unreadable));
  const workload = target.found;
  const [winner] = facts.rivals;
  if (winner !== undefined && isBefore(winner, runtime)) return untouched(duplicate(winner, workload));
  const refusal = templateRefusal(facts, workload);
  if (refusal !== undefined) return untouched(refusal, workload);
  return stepOn(workload, facts);
}

function stepOn(workload: Workload, { runtime, configuration }: Facts): Step {
  const now = enrolled(workload);
  const { type } = runtime.spec;
  const isFixed = !workload.row.canLabelTemplate(workload.object);
  if (!agentTypes.includes(type))
    return untouched(error('ConfigInvalid', 'spec.type: one of agent, tool is expected.'));
  if (selectsByType(workload) && now.type !== type) return untouched(selectorConflict(workload, type), workload);
  if (isFixed && (now.type !== type || now.configHash === undefined)) return untouched(immutable(workload), workload);
  const broken = configuration.kind === 'broken' ? configurationObstacle(configuration) : undefined;
  const configHash = wantedHash(configuration, isFixed, now.configHash);
  if (configHash === undefined) return untouched(broken ?? immutable(workload), workload);

  return { ...difference(workload, type, configHash), owns: workload, obstacle: broken };
}

/** What is missing on the workload, and whether adding it needs a place in the rollout. */
function difference(workload: Workload, type: AgentType, configHash: string): Pick<Step, 'apply' | 'pace'> {
  const now = enrolled(workload);
  const takes = takesManagedBy(workload);
  const hasManagedBy = !takes || workload.labels[labels.managedBy] === managedBy;
  const isTyped = now.type === type && workload.labels[labels.type] === type;
  if (isTyped && hasManagedBy && now.configHash === configHash) return { apply: undefined, pace: 'now' };
  const isHashOnly = isTyped && now.configHash !== undefined && now.configHash !== configHash;
  return {
    apply: { type, configHash, managedBy: takes },
    pace: isHashOnly && restartsPods(workload) ? 'rollout' : 'now',
  };
}

type AgentType = Facts['runtime']['spec']['type'];

/** An unusable layer leaves the hash that stands; so does a Job that may have started. */
function wantedHash(configuration: Configuration, isFixed: boolean, standing: string | undefined): string | undefined {
  return isFixed || configuration.kind === 'broken' ? standing : configuration.hash;
}

/** A workload scaled to zero, and one whose template only later runs use, need no place in the rollout. */
function restartsPods(workload: Workload): boolean {
  const { spec } = workload.object as { readonly spec?: { readonly replicas?: number } };
  return workload.row.restartsPods && spec?.replicas !== 0;
}

/** The older wins, then the smaller uid. */
export function isBefore(a: Facts['runtime'], b: Facts['runtime']): boolean {
  const key = ({ metadata }: Facts['runtime']) => `${metadata.creationTimestamp ?? ''} ${metadata.uid ?? ''}`;
  return key(a) < key(b);
}
