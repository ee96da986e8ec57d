/** Gathers everything a decision about one AgentCard's network needs: from the cache alone. */

import type { AgentCard } from '../api/agent-card.ts';
import type { NetworkPolicy } from '../api/kubernetes.ts';
import type { TargetRef } from '../api/target-ref.ts';
import { mergeLayers } from '../config/merge.ts';
import type { LayerReader } from '../config/read.ts';
import type { Reader } from '../engine/types.ts';
import { agentCards, winner } from '../workload/cards.ts';
import { lookUpTarget } from '../workload/find.ts';
import type { Verdicts } from '../workload/verdicts.ts';
import { namespaces, targetIndex } from '../workload/watches.ts';
import type { Marked } from './marked.ts';
import type { Observed } from './observed.ts';
import { controllingCard, isOurs } from './ownership.ts';
import { cardsForPolicy, policyName } from './policy-name.ts';
import { isSameSelector, selectorOf } from '../workload/selector.ts';
import { networkPolicies } from './watch.ts';

export interface Observing {
  readonly layers: LayerReader;
  readonly operatorNamespace: string;
  readonly isAudit: boolean;
  readonly verdicts: Pick<Verdicts, 'of'>;
  readonly marked: Pick<Marked, 'has'>;
}

export function observe(card: AgentCard, reader: Reader, by: Observing): Observed {
  const { namespace = '', uid = '' } = card.metadata;
  const layers = by.layers.lastGood(reader, namespace);
  const own = reader.list(networkPolicies, { namespace, index: { name: 'card', value: uid } });
  const awaited = awaitedOf(own, card, reader);
  const target = ofTarget(card, reader, targetOf(card));
  return {
    ...target,
    isOurs: target.policy !== undefined && by.marked.has(target.policy),
    card,
    verdict: by.verdicts.of(card),
    isAudit: by.isAudit,
    isTerminating: reader.get(namespaces, { name: namespace })?.metadata.deletionTimestamp !== undefined,
    surroundings: { operatorNamespace: by.operatorNamespace, settings: mergeLayers(layers).config.networkPolicy },
    problems: layers.problems,
    own,
    awaited: new Set(awaited.map(({ metadata }) => metadata.name ?? '')),
  };
}

type OfTarget = Pick<Observed, 'target' | 'counts' | 'name' | 'policy' | 'holder'>;

function ofTarget(card: AgentCard, reader: Reader, ref: TargetRef | undefined): OfTarget {
  const { namespace = '' } = card.metadata;
  if (ref === undefined) {
    const target = { unsupported: 'spec.targetRef is missing' };
    return { target, counts: true, name: '', policy: undefined, holder: undefined };
  }
  const name = policyName(reader, namespace, ref);
  const policy = reader.get(networkPolicies, { namespace, name });
  return {
    target: lookUpTarget(reader, namespace, ref),
    counts: isCounted(card, reader),
    name,
    policy,
    holder: policy === undefined || !isOurs(policy) ? undefined : holderOf(policy, card, reader),
  };
}

function holderOf(policy: NetworkPolicy, card: AgentCard, reader: Reader): AgentCard | undefined {
  const reference = controllingCard(policy);
  if (reference === undefined || reference.uid === card.metadata.uid) return undefined;
  const holder = reader.get(agentCards, { namespace: card.metadata.namespace, name: reference.name });
  return holder?.metadata.uid === reference.uid ? holder : undefined;
}

/** The one of its workload's cards that counts. */
function isCounted(card: AgentCard, reader: Reader): boolean {
  const { namespace, uid } = card.metadata;
  const ref = targetOf(card);
  if (ref === undefined) return false;
  const rivals = reader.list(agentCards, { namespace, index: { name: 'target', value: targetIndex(ref) } });
  return winner(rivals)?.metadata.uid === uid;
}

/** Those of a card's policies that another card takes over. */
export function awaitedOf(own: readonly NetworkPolicy[], card: AgentCard, reader: Reader): readonly NetworkPolicy[] {
  return own.filter((policy) => isAwaited(policy, card, reader));
}

/** Another card that counts has this name for its policy, and this policy selects the pods of its workload already. */
function isAwaited(policy: NetworkPolicy, card: AgentCard, reader: Reader): boolean {
  const { namespace = '', name = '' } = policy.metadata;
  return cardsForPolicy(reader, namespace, name).some((other) => {
    if (other.metadata.uid === card.metadata.uid || !isCounted(other, reader)) return false;
    if (policyName(reader, namespace, other.spec.targetRef) !== name) return false;
    const target = lookUpTarget(reader, namespace, other.spec.targetRef);
    return 'found' in target && isSameSelector(policy.spec?.podSelector, selectorOf(target.found));
  });
}

/** An object older than the schema may lack its target. */
function targetOf(card: AgentCard): TargetRef | undefined {
  return (card as Partial<AgentCard>).spec?.targetRef;
}
