/** Observed → Plan: what to write on the workload and around it, the status, and what is worth an event. */

import type { AgentRuntimeStatus } from '../api/agent-runtime.ts';
import { type Finding, mergeConditions } from '../api/conditions.ts';
import type { MergePatch, Plan } from '../engine/types.ts';
import { enrolled, enrolment, release } from '../workload/fragment.ts';
import type { Workload } from '../workload/workload.ts';
import { configFinding, readyFinding, targetFinding } from './findings.ts';
import { type Hindrance, hindrance } from './hindrance.ts';
import { injectionOff } from './injection.ts';
import { needs } from './needs.ts';
import { notices } from './notices.ts';
import type { Observed } from './observed.ts';
import { skills } from './skills.ts';
import { spiffe } from './spiffe.ts';
import { type Step, stepOf } from './step.ts';
import { sweep } from './sweep.ts';

/** Pure. Applying the plan and observing again gives a plan that changes nothing. */
export function decide(observed: Observed, now: Date): Plan<AgentRuntimeStatus> {
  const patch = formerRelease(observed);
  if (patch !== undefined) return { patch: [patch], afterMs: 1 };
  const step = stepOf(observed);
  const hindered = hindrance(observed, step);
  const report = step.owns === undefined ? nothing : reportOf(observed, step.owns, { step, hindered, now });
  const status = statusOf(observed, { step, hindered, report, now });
  return {
    apply: writes(observed, step, hindered),
    status,
    notices: notices(observed.runtime.status?.conditions ?? [], status.conditions ?? []),
    ...earliest(hindered.afterMs, report.afterMs),
  };
}

/** What a pod needs comes before the label that lets pods in. */
function writes(observed: Observed, { apply, owns, obstacle }: Step, { isApplied }: Hindrance) {
  const isClosed = obstacle?.reason === 'PodSecurityConflict' || obstacle?.reason === 'TargetImmutable';
  const isIdle = apply === undefined && owns !== undefined && enrolled(owns).configHash === undefined;
  if (owns === undefined || isClosed || isIdle) return [];
  const around = needs(observed, owns);
  return isApplied && apply !== undefined ? [...around, enrolment(owns, apply)] : around;
}

/** Ruling 4: the old target is released first, in a pass of its own. */
function formerRelease({ former }: Observed): MergePatch | undefined {
  return former === undefined ? undefined : release(former);
}

/** What status says about the workload this AgentRuntime owns. */
interface Report {
  readonly findings: readonly Finding[];
  readonly status: AgentRuntimeStatus;
  readonly afterMs: number | undefined;
}

const nothing: Report = { findings: [], status: {}, afterMs: undefined };

interface Judged {
  readonly step: Step;
  readonly hindered: Hindrance;
  readonly now: Date;
}

function reportOf(observed: Observed, workload: Workload, { step, hindered, now }: Judged): Report {
  const { configuration, runtime, hasCsiDriver } = observed;
  const isWritten = hindered.isApplied && step.apply !== undefined;
  const hash = isWritten ? step.apply?.configHash : enrolled(workload).configHash;
  if (hash === undefined) return nothing;
  const off = injectionOff(observed, workload);
  const previous = runtime.status?.target?.uid === workload.uid ? runtime.status : undefined;
  const isRolling = workload.row.restartsPods && (isWritten || workload.rollout === 'running');
  const pods = sweep({ pods: observed.pods, off, hash, isRolling, previousCount: previous?.configuredPods, now });
  const target = { ...workload.ref, uid: workload.uid };
  const base = { configuredPods: pods.configuredPods, configHash: hash, target };
  if (configuration.kind === 'broken') {
    const kept = (previous?.conditions ?? []).filter(({ type }) => type === 'SpiffeReady' || type === 'SkillsResolved');
    const { identity, linkedSkills } = previous ?? {};
    return {
      findings: [pods.finding, ...kept.map(asFinding)],
      status: { ...base, identity, linkedSkills },
      afterMs: pods.afterMs,
    };
  }
  const { effective } = configuration;
  const id = spiffe({ workload, effective, off, hasCsiDriver });
  const found = effective.gates.skillDiscovery ? skills(workload, runtime.spec.skills) : undefined;
  return {
    findings: [pods.finding, id.finding, ...(found === undefined ? [] : [found.finding])],
    status: {
      ...base,
      identity: id.identity,
      linkedSkills: found?.linkedSkills === undefined ? undefined : [...found.linkedSkills],
    },
    afterMs: pods.afterMs,
  };
}

const asFinding = ({ type, status, reason, message }: Finding): Finding => ({ type, status, reason, message });

function statusOf(
  observed: Observed,
  { step, hindered, report, now }: Judged & { readonly report: Report },
): AgentRuntimeStatus {
  const { runtime, target } = observed;
  const obstacle = hindered.obstacle ?? step.obstacle;
  const whenReady =
    'found' in target ? `${target.found.ref.kind} ${target.found.name} is enrolled as ${runtime.spec.type}.` : '';
  const ready = readyFinding(obstacle, whenReady);
  const findings = [targetFinding(observed, step), configFinding(observed), ready, ...report.findings];
  const generation = runtime.metadata.generation;
  const conditions = mergeConditions(runtime.status?.conditions, findings, now, generation);
  return present({
    phase: obstacle?.phase ?? 'Active',
    message: ready.message,
    observedGeneration: generation,
    conditions: [...conditions],
    ...report.status,
  });
}

/** Without the members that are undefined: JSON has none, and a comparison must not see them. */
function present(status: AgentRuntimeStatus): AgentRuntimeStatus {
  return Object.fromEntries(Object.entries(status).filter(([, value]) => value !== undefined)) as AgentRuntimeStatus;
}

function earliest(...times: readonly (number | undefined)[]): { readonly afterMs?: number } {
  const known = times.filter((time) => time !== undefined);
  return known.length === 0 ? {} : { afterMs: Math.max(1, Math.ceil(Math.min(...known))) };
}
