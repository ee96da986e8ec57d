/** Gathers everything a decision needs into one value: from the cache by index, and from the contacts with the agents. */

import type { AgentCard } from '../api/agent-card.ts';
import type { AgentRuntime } from '../api/agent-runtime.ts';
import { isSameTarget, type TargetRef } from '../api/target-ref.ts';
import type { Gathering, Reader } from '../engine/types.ts';
import { agentCards, winner } from '../workload/cards.ts';
import { findTarget, lookUpTarget, type Target } from '../workload/find.ts';
import { servicesOf, slicesOf } from '../workload/services.ts';
import { agentRuntimes, targetIndex } from '../workload/watches.ts';
import { firstRuntime } from '../workload/first-runtime.ts';
import type { Workload } from '../workload/workload.ts';
import type { Assessment, Rules } from './assess.ts';
import type { Assessments } from './assessments.ts';
import { type Bearers, bearersOf, ownPodsOf } from './bearers.ts';
import { bindingOf, expectedIdentity, type InstallBinding } from './binding.ts';
import { endpointOf, type Whereabouts } from './endpoint.ts';
import { type Kept, keptCondition } from './kept.ts';
import type { KeptSignatures } from './kept-signatures.ts';
import type { Facts, Marked, Observed, Policy, Talk } from './observed.ts';
import { obstacleOf, protocolsOf, unfitness } from './obstacles.ts';
import { silence, type Talks } from './talks.ts';
import type { Bundle } from './trust-bundle.ts';
import { mayStand, stands } from './verdict.ts';

export interface Observing {
  readonly policy: Policy;
  readonly talks: Talks;
  readonly kept: Kept;
  readonly keptSignatures: KeptSignatures;
  readonly assessments: Assessments;
  readonly installBindingOf: (reader: Reader, namespace: string) => InstallBinding;
  /** Undefined where signatures are not verified. */
  readonly bundleOf: ((reader: Reader) => Bundle) | undefined;
  readonly now: () => Date;
}

export async function observe(card: AgentCard, { reader }: Gathering, by: Observing): Promise<Observed> {
  const facts = factsOf(card, reader);
  const { namespace = '' } = card.metadata;
  const workload = 'found' in facts.target ? facts.target.found : undefined;
  const known = {
    ...facts,
    policy: by.policy,
    kept: by.kept.of(card, by.now()),
    obstacle: obstacleOf(facts),
    binding: bindingOf(card, workload, by.installBindingOf(reader, namespace)),
    bundle: by.bundleOf?.(reader),
  };
  const seen: Seen = { ...known, keptSignature: keptSignatureOf(known, by) };
  const talk = talkOf(seen, by);
  const isOthers = seen.winner !== undefined && card.metadata.deletionTimestamp === undefined;
  return {
    ...seen,
    talk,
    assessment: assessmentOf(seen, talk, by),
    ...(workload === undefined || isOthers ? nobody : bearersOf(reader, workload)),
    former: formerOf(card, reader),
    hasHeir: facts.winner !== undefined,
  };
}

const nobody: Bearers = { marked: [], strays: [] };

/** What is known before the agent is asked. */
type Seen = Facts & Pick<Observed, 'policy' | 'kept' | 'keptSignature' | 'obstacle' | 'binding' | 'bundle'>;

function factsOf(card: AgentCard, reader: Reader): Facts {
  const { namespace = '', deletionTimestamp } = card.metadata;
  const ref = refOf(card);
  // What cannot be read cannot be released either: a deletion waits, with the reason in the log.
  const look = deletionTimestamp === undefined ? lookUpTarget : findTarget;
  const target: Target =
    ref === undefined ? { unsupported: 'spec.targetRef is missing' } : look(reader, namespace, ref);
  const first = ref === undefined ? undefined : winner(cardsOf(reader, namespace, ref));
  const workload = 'found' in target ? target.found : undefined;
  const other = first?.metadata.uid === card.metadata.uid ? undefined : first;
  return {
    card,
    target,
    winner: other,
    runtime: ref === undefined ? undefined : runtimeOf(reader, namespace, ref),
    protocols: workload === undefined ? [] : protocolsOf(workload),
    whereabouts: workload === undefined || other !== undefined ? undefined : whereaboutsOf(reader, workload),
  };
}

/** An object older than the schema may lack its target. */
function refOf(card: AgentCard): TargetRef | undefined {
  return (card as Partial<AgentCard>).spec?.targetRef;
}

function cardsOf(reader: Reader, namespace: string, ref: TargetRef): readonly AgentCard[] {
  return reader.list(agentCards, { namespace, index: { name: 'target', value: targetIndex(ref) } });
}

/** Where it may not be read, nothing but a better advice is missing. */
function runtimeOf(reader: Reader, namespace: string, ref: TargetRef): AgentRuntime | undefined {
  try {
    return firstRuntime(reader.list(agentRuntimes, { namespace, index: { name: 'target', value: targetIndex(ref) } }));
  } catch {
    return undefined;
  }
}

function whereaboutsOf(reader: Reader, workload: Workload): Whereabouts | undefined {
  if (unfitness(workload) !== undefined) return undefined;
  const pods = ownPodsOf(reader, workload);
  return endpointOf({
    workload,
    services: servicesOf(reader, workload, pods),
    slicesOf: (service) => slicesOf(reader, service),
    pods,
  });
}

/** Whoever is no agent of ours is forgotten; one that is out of reach is remembered; any other is asked from now on. */
function talkOf(seen: Seen, { talks, now }: Observing): Talk {
  const { card, obstacle, target, whereabouts } = seen;
  const { uid = '', deletionTimestamp } = card.metadata;
  if (deletionTimestamp !== undefined || obstacle?.isFinal === true) {
    talks.forget(uid);
    return silence;
  }
  const isFirst = !talks.has(card);
  return talks.with(card, {
    workload: 'found' in target ? target.found.uid : undefined,
    endpoints: whereabouts !== undefined && 'found' in whereabouts ? whereabouts.found : undefined,
    isNew: !isFirst || !isKnownWell(seen, now()),
    silentSince: isFirst ? silentSince(seen, now()) : undefined,
  });
}

/** Restarts must not prolong a verdict again and again: an answer since then would have changed the condition. */
function silentSince(seen: Seen, now: Date): Date | undefined {
  const synced = keptCondition(seen.kept, 'Synced');
  if (synced?.status !== 'False' || !stands(seen, now)) return undefined;
  // A time that is yet to come is nobody's but a forger's, who would have the silence begin then.
  return new Date(Math.min(now.getTime(), Date.parse(synced.lastTransitionTime)));
}

/** Its status says all that asking would: it can wait for its turn. */
function isKnownWell(seen: Seen, now: Date): boolean {
  const { card, kept } = seen;
  const isSynced = keptCondition(kept, 'Synced')?.status === 'True';
  if (!isSynced || kept.observedGeneration !== card.metadata.generation) return false;
  return !seen.policy.isRequired || stands(seen, now);
}

function assessmentOf(seen: Seen, talk: Talk, by: Observing): Assessment | undefined {
  const { uid = '' } = seen.card.metadata;
  if (talk === silence) by.assessments.forget(uid);
  if (talk.received === undefined) return undefined;
  const question = { received: talk.received, rules: rulesOf(seen), now: by.now() };
  const { assessment, needsBody } = by.assessments.of(uid, question);
  if (needsBody) by.talks.askAgain(seen.card);
  return assessment;
}

/** Looked at only where it can count. */
function keptSignatureOf(known: Omit<Seen, 'keptSignature'>, by: Observing): Observed['keptSignature'] {
  const { card, kept } = known;
  const { uid = '' } = card.metadata;
  const rules = rulesOf(known);
  if (rules !== undefined && !by.talks.hasAnswered(card) && mayStand(known)) {
    return by.keptSignatures.of(uid, kept, { rules, now: by.now() });
  }
  by.keptSignatures.forget(uid);
  return undefined;
}

/** Without a bundle or a trust domain nothing can be verified; the card is read all the same. */
function rulesOf({ policy, bundle, binding }: Pick<Seen, 'policy' | 'bundle' | 'binding'>): Rules | undefined {
  if (!policy.isRequired || bundle?.kind !== 'usable') return undefined;
  return { bundle: bundle.bundle, ...expectedIdentity(binding), profiles: policy.profiles };
}

/** The bearers of the target that status remembers, when the spec names another by now and no other card has it. */
function formerOf(card: AgentCard, reader: Reader): readonly Marked[] {
  const { namespace = '' } = card.metadata;
  const remembered = card.status?.targetRef;
  const ref = refOf(card);
  if (remembered === undefined || (ref !== undefined && isSameTarget(remembered, ref))) return [];
  if (winner(cardsOf(reader, namespace, remembered)) !== undefined) return [];
  const target = findTarget(reader, namespace, remembered);
  if (!('found' in target)) return [];
  const { marked, strays } = bearersOf(reader, target.found);
  return [...marked, ...strays];
}
