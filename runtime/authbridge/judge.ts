/** Snapshot → verdict: eligibility, components, conflicts, ports and the injected pod, put together. */

import { spiffeId } from '../api/names.ts';
import { componentsOf, containerNames, lacksCsiDriver, spiffeCsiDriver } from '../config/components.ts';
import { markerOf } from '../config/marker.ts';
import { conflictOf, meshWarnings, strictConflict } from './conflicts.ts';
import { deviation } from './deviation.ts';
import { eligibility } from './eligibility.ts';
import { explicitWarnings } from './explicit.ts';
import { inject } from './inject.ts';
import type { Memory } from './memory.ts';
import { type Eligible, type EligibleFacts, plannedAdditions, probeWarnings } from './planned-additions.ts';
import { riskWarnings } from './risks.ts';
import { malformation } from './shape.ts';
import type { Components, ContainerName, Judgement, Reason, Refusal, Snapshot, Step } from './snapshot.ts';

/** Judges one pod. Pure but for `memory`, which only saves work; never throws for anything a pod, a label or a layer may hold. */
export function judge(snapshot: Snapshot, memory: Memory): Judgement {
  const problem = snapshot.pod === undefined ? undefined : malformation(snapshot.pod);
  if (problem !== undefined) return deny([], { reason: 'InvalidPod', note: `the pod is malformed: ${problem}` });
  const { steps, settled } = eligibility(snapshot);
  const { pod, runtime } = snapshot;
  if (settled?.reason === 'NoAgentRuntime' && pod !== undefined) {
    const marker = markerOf(pod);
    if (marker.state === 'claimed') return alreadyInjected(marker.names, steps);
  }
  if (settled !== undefined) return allow(steps, settled, settled.warning === true ? [settled.note] : []);
  if (pod === undefined || runtime === undefined)
    return allow(steps, { reason: 'NotAPod', note: 'there is no pod' }, []);
  return judgeMarker({ ...snapshot, pod, runtime }, steps, memory);
}

/** What was added earlier in the same request is ours as it is; any other pod that claims to be injected is compared with what we would inject. */
function judgeMarker(snapshot: Eligible, steps: readonly Step[], memory: Memory): Judgement {
  const marker = markerOf(snapshot.pod);
  if (marker.state === 'forged') {
    return deny([...steps, failed(markerStep, marker.note)], { reason: 'MarkerForged', note: marker.note });
  }
  if (marker.state === 'claimed' && snapshot.isAddedAtAdmission) return alreadyInjected(marker.names, steps);
  const claimed = marker.state === 'claimed' ? marker.names : [];
  return judgeConfig(snapshot, { steps, claimed }, memory);
}

const markerStep = 'already injected';

function alreadyInjected(names: readonly string[], steps: readonly Step[]): Judgement {
  const note = `the pod has its injected containers already: ${names.join(', ')}`;
  return allow([...steps, failed(markerStep, note)], { reason: 'AlreadyInjected', note }, []);
}

interface Reached {
  readonly steps: readonly Step[];
  /** The containers of ours that the pod claims to have; none: it claims nothing. */
  readonly claimed: readonly ContainerName[];
}

function judgeConfig(snapshot: Eligible, { steps: before, claimed }: Reached, memory: Memory): Judgement {
  const steps = claimed.length > 0 ? before : [...before, passed(markerStep, 'the pod has no injected containers')];
  const effective = memory.effective(snapshot.layers, snapshot.runtime);
  const { problems } = snapshot.layers;
  if (problems.length > 0 || 'message' in effective) {
    const all = 'message' in effective ? [...problems, effective] : problems;
    const note = all.map(({ message }) => message).join('; ');
    return deny([...steps, failed('configuration', note)], { reason: 'ConfigInvalid', note });
  }
  const components = componentsOf(snapshot.pod, effective, snapshot.csiDriver);
  const facts: EligibleFacts = { snapshot, pod: snapshot.pod, effective, components };
  const reached = [...steps, passed('configuration', 'all layers are valid')];
  const judged =
    claimed.length > 0 ? judgeClaim(facts, { steps, claimed }, memory) : judgeComponents(facts, reached, memory);
  return { ...judged, components, effective };
}

function judgeClaim(facts: EligibleFacts, { steps, claimed }: Reached, memory: Memory): Judgement {
  const refusal = deviation(facts, claimed, memory);
  if (refusal === undefined) return alreadyInjected(claimed, steps);
  return deny([...steps, failed(markerStep, refusal.note)], refusal);
}

function judgeComponents(facts: EligibleFacts, steps: readonly Step[], memory: Memory): Judgement {
  const chosen = containerNames.filter((name) => facts.components.containers[name].inject);
  if (chosen.length === 0) {
    const note = `nothing to inject: ${sentence(facts.components)}`;
    const tried = [...steps, failed('components', note)];
    const refusal = strictConflict(facts);
    return refusal === undefined
      ? allow(tried, { reason: 'NothingToInject', note }, spiffeWarnings(facts))
      : deny(tried, refusal);
  }
  const reached = [...steps, passed('components', chosen.join(', '))];
  const refusal = conflictOf(facts);
  if (refusal !== undefined) return deny([...reached, failed('conflicts', refusal.note)], refusal);
  const added = plannedAdditions(facts, memory);
  if ('reason' in added) return deny([...reached, failed('conflicts', added.note)], added);
  const note = `injected ${chosen.join(', ')}`;
  return {
    verdict: {
      kind: 'mutate',
      reason: 'Injected',
      note,
      object: inject(facts.pod, added),
      warnings: warnings.flatMap((of) => of(facts)),
    },
    steps: [...reached, passed('conflicts', 'none: names, ports, users, volumes and the namespace allow it')],
    identity: identityOf(facts),
  };
}

const warnings: readonly ((facts: EligibleFacts) => readonly string[])[] = [
  spiffeWarnings,
  meshWarnings,
  probeWarnings,
  explicitWarnings,
  riskWarnings,
  jobWarnings,
];

function identityOf({ snapshot, pod, effective, components }: EligibleFacts): string | undefined {
  if (!components.spiffe.inject) return undefined;
  return spiffeId(effective.config.spiffe.trustDomain, snapshot.namespace, pod.spec.serviceAccountName);
}

function spiffeWarnings({ snapshot, pod, effective }: EligibleFacts): readonly string[] {
  if (!lacksCsiDriver(pod, effective, snapshot.csiDriver)) return [];
  return [
    `SpiffeUnavailable: the pod runs without a SPIFFE identity, the cluster has no CSI driver ${spiffeCsiDriver}`,
  ];
}

function jobWarnings({ snapshot }: EligibleFacts): readonly string[] {
  const { owner, nativeSidecars } = snapshot;
  if (nativeSidecars || (owner?.kind !== 'Job' && owner?.kind !== 'CronJob')) return [];
  return ['on Kubernetes before 1.29 the sidecars keep running when the job has finished, and it never completes'];
}

function sentence({ containers: choices }: Components): string {
  return containerNames.map((name) => `${name}: ${choices[name].reason}`).join('; ');
}

function passed(step: string, reason: string): Step {
  return { step, passed: true, reason };
}

function failed(step: string, reason: string): Step {
  return { step, passed: false, reason };
}

function allow(steps: readonly Step[], { reason, note }: Refusal, warnings: readonly string[]): Judgement {
  return { verdict: { kind: 'allow', reason, note, warnings }, steps };
}

function deny(steps: readonly Step[], { reason, note }: { reason: Reason; note: string }): Judgement {
  return { verdict: { kind: 'deny', reason, note }, steps };
}
