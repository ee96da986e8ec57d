/** What status says about the workload an AgentRuntime has enrolled: its pods, its identity, its skills. */

import type { AgentRuntimeStatus } from '../api/agent-runtime.ts';
import type { Finding } from '../api/conditions.ts';
import type { Effective } from '../config/layers.ts';
import { type Enrolment, enrolled } from '../workload/fragment.ts';
import type { Workload } from '../workload/workload.ts';
import { captureFinding } from './capture.ts';
import { injectionOff } from './injection.ts';
import type { Observed } from './observed.ts';
import type { Obstacle } from './obstacles.ts';
import { skills } from './skills.ts';
import { spiffe } from './spiffe.ts';
import { type Previous, type Sweep, sweep } from './sweep.ts';

export interface Report {
  readonly findings: readonly Finding[];
  readonly status: AgentRuntimeStatus;
  /** What its pods tell against `Ready`. */
  readonly obstacle: Obstacle | undefined;
  readonly afterMs: number | undefined;
}

/** Of a workload that is not enrolled, or not by this AgentRuntime. */
export const nothing: Report = Object.freeze({ findings: [], status: {}, obstacle: undefined, afterMs: undefined });

export interface Reported {
  readonly workload: Workload;
  /** What this pass writes on it, if anything. */
  readonly written: Enrolment | undefined;
  readonly now: Date;
}

export function reportOf(observed: Observed, { workload, written, now }: Reported): Report {
  const hash = written?.configHash ?? enrolled(workload).configHash;
  if (hash === undefined) return nothing;
  const off = injectionOff(observed, workload);
  const isRolling = workload.row.restartsPods && (written !== undefined || workload.rollout === 'running');
  const { pods: all, counts, unseen, snag } = observed;
  const previous = previousOf(observed, workload);
  const pods = sweep({ workload, pods: all, counts, unseen, snag, off, hash, isRolling, previous, now });
  const own = enrolledAs(workload, hash, pods);
  const { configuration } = observed;
  const more =
    configuration.kind === 'broken' ? asBefore(observed) : known(observed, workload, configuration.effective);
  return {
    findings: [pods.finding, ...more.findings],
    status: { ...own, ...more.status },
    obstacle: pods.obstacle,
    afterMs: pods.afterMs,
  };
}

/** Nothing when status speaks of another workload. */
function previousOf({ runtime: { status } }: Observed, workload: Workload): Previous {
  if (status?.target?.uid !== workload.uid) return { count: undefined, finding: undefined };
  const finding = status.conditions?.find(({ type }) => type === 'PodsInjected');
  return { count: status.configuredPods, finding };
}

type Part = Pick<Report, 'findings' | 'status'>;

function enrolledAs(workload: Workload, configHash: string, { configuredPods }: Sweep): AgentRuntimeStatus {
  return { configuredPods, configHash, target: { ...workload.ref, uid: workload.uid } };
}

function known(observed: Observed, workload: Workload, effective: Effective): Part {
  const { hasCsiDriver, runtime } = observed;
  const off = injectionOff(observed, workload);
  const id = spiffe({ workload, effective, off, hasCsiDriver });
  const capture = captureFinding(workload, effective, off);
  const findings = [id.finding, ...(capture === undefined ? [] : [capture])];
  if (!effective.gates.skillDiscovery) return { findings, status: { identity: id.identity } };
  const { linkedSkills, finding } = skills(workload, runtime.spec.skills);
  return {
    findings: [...findings, finding],
    status: { identity: id.identity, ...(linkedSkills === undefined ? {} : { linkedSkills: [...linkedSkills] }) },
  };
}

/** Nothing is known while the configuration cannot be read: what was said stands. */
function asBefore({ runtime }: Observed): Part {
  const { conditions = [], identity, linkedSkills } = runtime.status ?? {};
  const kept = conditions.filter(({ type }) => ['SpiffeReady', 'SkillsResolved', 'TrafficCaptured'].includes(type));
  const { spiffeEnabled, spiffeId } = identity ?? {};
  const own = {
    ...(spiffeEnabled === undefined ? {} : { spiffeEnabled }),
    ...(spiffeId === undefined ? {} : { spiffeId }),
  };
  return {
    findings: kept.map(({ type, status, reason, message }) => ({ type, status, reason, message })),
    status: {
      ...(spiffeEnabled === undefined ? {} : { identity: own }),
      ...(linkedSkills === undefined ? {} : { linkedSkills }),
    },
  };
}
