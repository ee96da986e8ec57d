/** Observed → Plan: what to write on the workload and around it, the status, and what is worth an event. */

import type { AgentRuntimeStatus } from '../api/agent-runtime.ts';
import { mergeConditions } from '../api/conditions.ts';
import type { MergePatch, Plan } from '../engine/types.ts';
import { enrolled, enrolment, release } from '../workload/fragment.ts';
import { configFinding, readyFinding, targetFinding } from './findings.ts';
import { type Hindrance, hindrance } from './hindrance.ts';
import { needs } from './needs.ts';
import { notices } from './notices.ts';
import type { Observed } from './observed.ts';
import type { Obstacle } from './obstacles.ts';
import { nothing, type Report, reportOf } from './report.ts';
import { type Step, stepOf } from './step.ts';

/** Pure. Applying the plan and observing again gives a plan that changes nothing. */
export function decide(observed: Observed, now: Date): Plan<AgentRuntimeStatus> {
  const step = stepOf(observed);
  const patch = formerRelease(observed) ?? strayRelease(observed, step);
  if (patch !== undefined) return { patch: [patch], afterMs: 1 };
  const hindered = hindrance(observed, step);
  if (hindered.isQuiet === true && isReported(observed)) {
    const { status } = observed.runtime;
    return { apply: writes(observed, step, hindered), status, notices: [], ...earliest(hindered.afterMs) };
  }
  const written = hindered.isApplied ? step.apply : undefined;
  const report = step.owns === undefined ? nothing : reportOf(observed, { workload: step.owns, written, now });
  const status = statusOf(observed, { step, hindered, report, now });
  return {
    apply: writes(observed, step, hindered),
    status,
    notices: notices(observed.runtime.status?.conditions ?? [], status.conditions ?? []),
    ...earliest(hindered.afterMs, report.afterMs, 'unreadable' in observed.target ? unreadableMs : undefined),
  };
}

/** The status speaks of this very spec. */
function isReported({ runtime }: Observed): boolean {
  return runtime.status?.observedGeneration === runtime.metadata.generation;
}

/** A target that was never there tells nobody when its kind can be read again. */
const unreadableMs = 30_000;

/** What a pod needs comes before the label that lets pods in. */
function writes(observed: Observed, { apply, owns, obstacle }: Step, { isApplied }: Hindrance) {
  const isClosed = obstacle?.reason === 'TargetImmutable';
  const isIdle = apply === undefined && owns !== undefined && enrolled(owns).configHash === undefined;
  if (owns === undefined || isClosed || isIdle) return [];
  const around = needs(observed, owns);
  return isApplied && apply !== undefined ? [...around, enrolment(owns, apply)] : around;
}

/** The old target is released first, in a pass of its own. */
function formerRelease({ former }: Observed): MergePatch | undefined {
  return former === undefined ? undefined : release(former);
}

/** What was enrolled where no pod is ever injected is given back: the hash on a template, and `status.target`, are nobody's but ours. */
function strayRelease({ target, runtime }: Observed, { obstacle }: Step): MergePatch | undefined {
  if (obstacle?.reason !== 'SystemNamespace' || !('found' in target)) return undefined;
  const isOurs = enrolled(target.found).configHash !== undefined || runtime.status?.target?.uid === target.found.uid;
  return isOurs ? release(target.found) : undefined;
}

interface Judged {
  readonly step: Step;
  readonly hindered: Hindrance;
  readonly report: Report;
  readonly now: Date;
}

function statusOf(observed: Observed, { step, hindered, report, now }: Judged): AgentRuntimeStatus {
  const { runtime, target } = observed;
  const obstacle = gravest(hindered.obstacle, step.obstacle, report.obstacle);
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
    ...('unreadable' in target ? standing(runtime) : report.status),
  });
}

/** The first that needs a person, else the first. */
function gravest(...obstacles: readonly (Obstacle | undefined)[]): Obstacle | undefined {
  const known = obstacles.filter((obstacle) => obstacle !== undefined);
  return known.find(({ phase }) => phase === 'Error') ?? known[0];
}

/** What was last known of a target that cannot be read now: above all which one it was, for when the spec names another. */
function standing({ status = {} }: Observed['runtime']): AgentRuntimeStatus {
  const { configuredPods, configHash, target, identity, linkedSkills } = status;
  return { configuredPods, configHash, target, identity, linkedSkills } as AgentRuntimeStatus;
}

/** Without the members that are undefined: JSON has none, and a comparison must not see them. */
function present(status: AgentRuntimeStatus): AgentRuntimeStatus {
  return Object.fromEntries(Object.entries(status).filter(([, value]) => value !== undefined)) as AgentRuntimeStatus;
}

function earliest(...times: readonly (number | undefined)[]): { readonly afterMs?: number } {
  const known = times.filter((time) => time !== undefined);
  return known.length === 0 ? {} : { afterMs: Math.max(1, Math.ceil(Math.min(...known))) };
}
