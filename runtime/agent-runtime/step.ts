/** The next step of an enrolment: what the workload is to carry, whether that restarts pods, and what stands in its way. */

import { agentTypes } from '../api/agent-runtime.ts';
import type { agentRuntimeReasons } from '../api/conditions.ts';
import { labels, managedBy } from '../api/names.ts';
import { type Enrolment, enrolled, takesManagedBy } from '../workload/fragment.ts';
import type { Workload } from '../workload/workload.ts';
import { injectionOff } from './injection.ts';
import { sentences } from './sentences.ts';
import type { Configuration, Facts } from './observed.ts';

/** Why `Ready` is False. `phase` says whether a person must act (`Error`) or an event is awaited (`Pending`). */
export interface Obstacle {
  readonly reason: (typeof agentRuntimeReasons.Ready)[number];
  readonly phase: 'Pending' | 'Error';
  readonly message: string;
}

export interface Step {
  /** What is to be written on the workload; undefined: it says so already, or must not be touched. */
  readonly apply: Enrolment | undefined;
  /** `rollout`: only the hash differs and pods will restart, which needs a place (ruling 7). */
  readonly pace: 'now' | 'rollout';
  /** The workload is this AgentRuntime's to write on. */
  readonly owns: Workload | undefined;
  readonly obstacle: Obstacle | undefined;
}

const untouched = (obstacle: Obstacle, owns?: Workload): Step => ({ apply: undefined, pace: 'now', owns, obstacle });

/** Pure, and asked twice: by `observe`, which asks for a place only when one is needed, and by `decide`. */
export function stepOf(facts: Facts): Step {
  const { target, runtime } = facts;
  if ('unsupported' in target) return untouched(error('TargetUnsupported', `${target.unsupported}.`));
  if ('missing' in target) return untouched(targetNotFound(runtime));
  const workload = target.found;
  const [winner] = facts.rivals;
  if (winner !== undefined && isBefore(winner, runtime)) return untouched(duplicate(winner, workload));
  const conflict = podSecurityConflict(facts, workload);
  if (conflict !== undefined) return untouched(conflict, workload);
  return stepOn(workload, facts);
}

function stepOn(workload: Workload, { runtime, configuration }: Facts): Step {
  const now = enrolled(workload);
  const { type } = runtime.spec;
  const isFixed = !workload.row.canLabelTemplate(workload.object);
  if (!agentTypes.includes(type))
    return untouched(error('ConfigInvalid', 'spec.type: one of agent, tool is expected.'));
  if (isFixed && (now.type !== type || now.configHash === undefined)) return untouched(immutable(workload), workload);
  const broken = configuration.kind === 'broken' ? configurationObstacle(configuration) : undefined;
  const configHash = wantedHash(configuration, isFixed, now.configHash);
  if (configHash === undefined) return untouched(broken ?? immutable(workload), workload);

  const takes = takesManagedBy(workload);
  const hasManagedBy = !takes || workload.labels[labels.managedBy] === managedBy;
  const isTyped = now.type === type && workload.labels[labels.type] === type;
  if (isTyped && hasManagedBy && now.configHash === configHash) {
    return { apply: undefined, pace: 'now', owns: workload, obstacle: broken };
  }
  const isHashOnly = isTyped && now.configHash !== undefined && now.configHash !== configHash;
  return {
    apply: { type, configHash, managedBy: takes },
    pace: isHashOnly && restartsPods(workload) ? 'rollout' : 'now',
    owns: workload,
    obstacle: broken,
  };
}

/** An unusable layer leaves the hash that stands (ruling 6); so does a Job that may have started. */
function wantedHash(configuration: Configuration, isFixed: boolean, standing: string | undefined): string | undefined {
  return isFixed || configuration.kind === 'broken' ? standing : configuration.hash;
}

/** A workload scaled to zero, and one whose template only later runs use, need no place in the rollout. */
function restartsPods(workload: Workload): boolean {
  const { spec } = workload.object as { readonly spec?: { readonly replicas?: number } };
  return workload.row.restartsPods && spec?.replicas !== 0;
}

/** Ruling 2: the older wins, then the smaller uid. */
export function isBefore(a: Facts['runtime'], b: Facts['runtime']): boolean {
  const key = ({ metadata }: Facts['runtime']) => `${metadata.creationTimestamp ?? ''} ${metadata.uid ?? ''}`;
  return key(a) < key(b);
}

const error = (reason: Obstacle['reason'], message: string): Obstacle => ({ reason, phase: 'Error', message });

function targetNotFound({ spec, metadata }: Facts['runtime']): Obstacle {
  const { kind, name } = spec.targetRef;
  const message = `${kind} ${name} does not exist in namespace ${metadata.namespace ?? ''}. Create it, or correct spec.targetRef; enrolment follows by itself.`;
  return { reason: 'TargetNotFound', phase: 'Pending', message };
}

function duplicate(winner: Facts['runtime'], workload: Workload): Obstacle {
  const name = winner.metadata.name ?? '';
  return error(
    'DuplicateTarget',
    `AgentRuntime ${name} is older and has ${workload.ref.kind} ${workload.name} as its target. Delete one of the two, or change spec.targetRef.`,
  );
}

function immutable(workload: Workload): Obstacle {
  return error(
    'TargetImmutable',
    `The pod template of ${workload.ref.kind} ${workload.name} cannot be changed any more. Create it anew with spec.suspend: true, and resume it when this AgentRuntime is Active.`,
  );
}

function configurationObstacle({ problems }: Extract<Configuration, { readonly kind: 'broken' }>): Obstacle {
  const isUnavailable = problems.some((problem) => problem.kind === 'unavailable');
  return error(
    isUnavailable ? 'ConfigUnavailable' : 'ConfigInvalid',
    sentences(problems.map(({ message }) => message)),
  );
}

/** Pod Security refuses NET_ADMIN at these levels, and with it every pod that holds proxy-init (ruling "Injection" 7). */
const strictLevels: readonly (string | undefined)[] = ['baseline', 'restricted'];

function podSecurityConflict(facts: Facts, workload: Workload): Obstacle | undefined {
  const { configuration, namespace, runtime } = facts;
  if (configuration.kind === 'broken') return undefined;
  const { config, gates } = configuration.effective;
  const level = namespace.labels['pod-security.kubernetes.io/enforce'];
  const hasProxyInit =
    config.authBridge.mode === 'envoy-sidecar' &&
    gates.envoyProxy &&
    workload.templateLabels[labels.envoyProxyInject] !== 'false' &&
    injectionOff(facts, workload) === undefined;
  if (!hasProxyInit || !strictLevels.includes(level)) return undefined;
  return error(
    'PodSecurityConflict',
    `Namespace ${runtime.metadata.namespace ?? ''} enforces Pod Security "${level}", which refuses the NET_ADMIN capability of container proxy-init. Set spec.authBridgeMode: proxy-sidecar, which needs none.`,
  );
}
