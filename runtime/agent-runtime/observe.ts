/** Gathers everything a decision needs into one value: from the cache by index, never by listing everything for one object. */

import type { AgentRuntime } from '../api/agent-runtime.ts';
import { kinds } from '../api/kinds.ts';
import type { ConfigMap } from '../api/kubernetes.ts';
import { configMaps } from '../api/names.ts';
import { isSameTarget, type TargetRef } from '../api/target-ref.ts';
import type { Layers } from '../config/layers.ts';
import type { LayerReader } from '../config/read.ts';
import type { Gathering, ObjectKey, Reader, Watch } from '../engine/types.ts';
import { findTarget, lookUpTarget, type Target } from '../workload/find.ts';
import { noPods, type PodCounts } from '../workload/pod-counts.ts';
import { podCountsOf, podsOf, unseenPods } from '../workload/pods.ts';
import { agentRuntimes, csiDrivers, namespaces, serviceAccounts, targetIndex } from '../workload/watches.ts';
import { enrolled } from '../workload/fragment.ts';
import type { Workload } from '../workload/workload.ts';
import { lastOtherManager } from './blame.ts';
import { injectionOff } from './injection.ts';
import type { Configuration, Facts, Observed } from './observed.ts';
import { podFacts } from './pods.ts';
import type { Look, Reversals, Standing } from './reversals.ts';
import type { Place, RolloutLimits, Rollouts } from './rollouts.ts';
import { type Snag, type SnagLimits, snagOf, type Snags } from './snags.ts';
import { isBefore, type Step, stepOf } from './step.ts';

/** The ConfigMaps of our name, one a namespace. */
export const authBridgeConfigMaps: Watch<ConfigMap> = Object.freeze({
  id: 'authbridge-configmaps',
  kind: kinds.configMap,
  name: configMaps.authBridge.name,
});

export interface Observing {
  readonly layers: LayerReader;
  readonly configurationOf: (layers: Layers, runtime: AgentRuntime) => Configuration;
  readonly rollouts: Rollouts;
  readonly reversals: Reversals;
  readonly snags: Snags;
  readonly snagLimits: SnagLimits;
  /** See `Facts.needsEnabledNamespace`. */
  readonly needsEnabledNamespace: boolean;
  readonly operatorNamespace: string;
  readonly fieldManager: string;
  /** Milliseconds of a clock that never goes back. */
  readonly monotonicMs: () => number;
  /** Told how many pods run without the sidecars they should have. */
  readonly bare: (key: ObjectKey, count: number) => void;
}

export async function observe(runtime: AgentRuntime, gathering: Gathering, by: Observing): Promise<Observed> {
  const { reader } = gathering;
  const facts = factsOf(runtime, reader, by);
  const step = stepOf(facts);
  const workload = 'found' in facts.target ? facts.target.found : undefined;
  const { namespace = '' } = runtime.metadata;
  const isDeleted = runtime.metadata.deletionTimestamp !== undefined;
  const key: ObjectKey = { namespace, name: runtime.metadata.name ?? '' };
  const place = isDeleted ? settled(key, by) : placeOf(key, { step, facts }, by);
  const standing = isDeleted ? calm(workload, by) : await standingOf({ step, place }, gathering, by);
  const seen = workload === undefined ? noneSeen : seenPods(reader, workload, by);
  const isExpected = !isDeleted && step.owns !== undefined && injectionOff(facts, step.owns) === undefined;
  by.bare(key, isExpected ? seen.pods.filter(({ isInjected }) => !isInjected).length + seen.unseen : 0);
  if (standing.kind === 'paused' && place.kind === 'held') settled(key, by);
  return {
    ...facts,
    former: formerOf(runtime, reader),
    ...seen,
    hasServiceAccount: hasServiceAccount(reader, workload),
    authBridge: reader.get(authBridgeConfigMaps, { namespace, name: configMaps.authBridge.name }),
    hasNeighbours: isDeleted && othersIn(reader, runtime, { namespace }).length > 0,
    place,
    standing,
  };
}

type SeenPods = Pick<Observed, 'pods' | 'counts' | 'unseen' | 'snag'>;

const noneSeen: SeenPods = { pods: [], counts: noPods, unseen: 0, snag: undefined };

function seenPods(reader: Reader, workload: Workload, by: Observing): SeenPods {
  const counts = podCountsOf(reader, workload);
  const unseen = unseenPods(reader, workload, counts);
  const pods = podsOf(reader, workload).map(podFacts);
  return { pods, counts, unseen, snag: lasting(workload, { counts, unseen }, by) };
}

/** A workload that is not enrolled makes its pods as it always did. */
function lasting(
  workload: Workload,
  pods: { readonly counts: PodCounts; readonly unseen: number },
  { snags, snagLimits, monotonicMs }: Observing,
): Snag | undefined {
  const all = { ...pods, rollout: workload.rollout };
  const found = enrolled(workload).complete ? snagOf(all, snagLimits) : undefined;
  const { kind, name } = pods.counts.lacking ?? workload.ref;
  const what = found === undefined ? undefined : `${found.kind} ${kind} ${name}`;
  const lastedMs = snags.look(workload.uid, what, monotonicMs());
  return found === undefined ? undefined : { ...found, lastedMs };
}

function factsOf(runtime: AgentRuntime, reader: Reader, by: Observing): Facts {
  const { namespace = '' } = runtime.metadata;
  const ref = targetOf(runtime);
  const object = reader.get(namespaces, { name: namespace });
  // What cannot be read cannot be released either: a deletion waits, with the reason in the log.
  const look = runtime.metadata.deletionTimestamp === undefined ? lookUpTarget : findTarget;
  return {
    runtime,
    target: ref === undefined ? noTarget : look(reader, namespace, ref),
    rivals: ref === undefined ? [] : rivalsOf(reader, runtime, ref),
    configuration: by.configurationOf(by.layers.read(reader, namespace), runtime),
    namespace: {
      labels: object?.metadata.labels ?? {},
      isTerminating: object?.metadata.deletionTimestamp !== undefined,
    },
    needsEnabledNamespace: by.needsEnabledNamespace,
    operatorNamespace: by.operatorNamespace,
    hasCsiDriver: reader.list(csiDrivers).length > 0,
  };
}

const noTarget: Target = { unsupported: 'spec.targetRef is missing' };

/** An object older than the schema may lack its target. */
function targetOf(runtime: AgentRuntime): TargetRef | undefined {
  return (runtime as Partial<AgentRuntime>).spec?.targetRef;
}

/** Others with this target that are not being deleted, the one that wins first. */
function rivalsOf(reader: Reader, runtime: AgentRuntime, ref: TargetRef): readonly AgentRuntime[] {
  const { namespace } = runtime.metadata;
  return [...othersIn(reader, runtime, { namespace, index: { name: 'target', value: targetIndex(ref) } })].sort(
    (a, b) => (isBefore(a, b) ? -1 : 1),
  );
}

function othersIn(
  reader: Reader,
  runtime: AgentRuntime,
  where: Parameters<Reader['list']>[1],
): readonly AgentRuntime[] {
  return reader
    .list(agentRuntimes, where)
    .filter(({ metadata }) => metadata.uid !== runtime.metadata.uid && metadata.deletionTimestamp === undefined);
}

/** The workload of `status.target` when the spec points elsewhere by now: still the same one, and no other AgentRuntime's target. */
function formerOf(runtime: AgentRuntime, reader: Reader): Workload | undefined {
  const remembered = runtime.status?.target;
  const ref = targetOf(runtime);
  if (remembered === undefined || (ref !== undefined && isSameTarget(remembered, ref))) return undefined;
  const target = findTarget(reader, runtime.metadata.namespace ?? '', remembered);
  if (!('found' in target) || target.found.uid !== remembered.uid) return undefined;
  return rivalsOf(reader, runtime, remembered).length > 0 ? undefined : target.found;
}

function hasServiceAccount(reader: Reader, workload: Workload | undefined): boolean {
  if (workload?.serviceAccount === undefined) return true;
  return reader.get(serviceAccounts, { namespace: workload.namespace, name: workload.serviceAccount }) !== undefined;
}

const settled = (key: ObjectKey, by: Observing): Place => {
  by.rollouts.settle(key, by.monotonicMs());
  return { kind: 'none' };
};

interface Seen {
  readonly step: Step;
  readonly facts: Facts;
}

/** Asks for a place when one is needed, keeps it while the rollout goes on, and frees it afterwards. */
function placeOf(key: ObjectKey, { step, facts }: Seen, by: Observing): Place {
  const atMs = by.monotonicMs();
  if (step.apply !== undefined && step.pace === 'rollout') return by.rollouts.request(key, limitsOf(facts), atMs);
  const place = by.rollouts.held(key, atMs);
  const isRolling = step.apply === undefined && step.owns?.rollout === 'running';
  return place.kind === 'held' && isRolling ? place : settled(key, by);
}

function limitsOf({ configuration }: Facts): RolloutLimits {
  if (configuration.kind === 'broken') return { maxConcurrent: 0, paused: true, deadlineMs: 600_000 };
  const { maxConcurrentWorkloads, paused, deadlineSeconds } = configuration.effective.config.rollout;
  return { maxConcurrent: maxConcurrentWorkloads, paused, deadlineMs: deadlineSeconds * 1000 };
}

function calm(workload: Workload | undefined, { reversals }: Observing): Standing {
  if (workload !== undefined) reversals.forget(workload.uid);
  return { kind: 'calm' };
}

/** Tells the memory of reversals what we see, and finds out who did it when it is a fight. */
async function standingOf(
  { step, place }: { readonly step: Step; readonly place: Place },
  { live }: Gathering,
  by: Observing,
): Promise<Standing> {
  const workload = step.owns;
  const isWaiting = step.apply !== undefined && step.pace === 'rollout' && place.kind !== 'held';
  if (workload === undefined || isWaiting) return { kind: 'calm' };
  const standing = by.reversals.look(lookAt(workload, step), by.monotonicMs());
  if (standing.kind !== 'paused' || !standing.isNew) return standing;
  const object = await live.get(workload.row.watch.kind, workload.key);
  const manager = lastOtherManager(object?.metadata.managedFields ?? [], by.fieldManager) ?? standing.manager;
  by.reversals.blame(workload.uid, manager);
  return { ...standing, manager };
}

function lookAt(workload: Workload, { apply }: Step): Look {
  const { type = '', configHash: hash = '' } = apply ?? enrolled(workload);
  const { resourceVersion = '' } = workload.object.metadata;
  return { uid: workload.uid, wanted: `${type} ${hash}`, resourceVersion, carries: apply === undefined };
}
