/** What stands between a card and its agent: why nobody is asked, in one word and in a sentence that says what to do. */

import type { AgentCard } from '../api/agent-card.ts';
import type { AgentRuntime } from '../api/agent-runtime.ts';
import { labels } from '../api/names.ts';
import type { TargetRef } from '../api/target-ref.ts';
import { isGenerated } from '../workload/cards.ts';
import type { Workload } from '../workload/workload.ts';
import type { Facts, Obstacle } from './observed.ts';

const final = (reason: Obstacle['reason'], message: string): Obstacle => ({ reason, message, isFinal: true });

/** Pure, and asked twice: by `observe`, which asks the agent only when nothing stands in the way, and by `decide`. */
export function obstacleOf(facts: Omit<Facts, 'protocols'>): Obstacle | undefined {
  const { card, target, winner, whereabouts, runtime } = facts;
  const ref = (card as Partial<typeof card>).spec?.targetRef;
  if ('unsupported' in target) return final('TargetUnsupported', `${target.unsupported}.`);
  if (winner !== undefined && ref !== undefined) return duplicate(winner.metadata.name ?? '', { ref, card });
  if ('missing' in target) return ref && missing(ref, card.metadata.namespace ?? '');
  if ('unreadable' in target) {
    const message = `${ref?.kind} ${ref?.name} cannot be read, so its card is not fetched; all others are. Give the operator's account the right that is missing. ${target.unreadable}`;
    return { reason: 'WorkloadUnavailable', message, isFinal: false };
  }
  const unfit = unfitness(target.found, runtime);
  if (unfit !== undefined) return unfit;
  if (whereabouts === undefined || 'found' in whereabouts) return undefined;
  return { reason: whereabouts.reason, message: `${whereabouts.message}.`, isFinal: false };
}

/** Why a workload is not asked for a card: it does not say that it is an agent, or not what it speaks. */
export function unfitness(workload: Workload, runtime?: AgentRuntime): Obstacle | undefined {
  const name = `${workload.ref.kind} ${workload.name}`;
  if (workload.labels[labels.type] !== 'agent') {
    const message = `${name} is not labelled ${labels.type}: agent. ${enrolment(runtime)}, or delete this AgentCard.`;
    return final('NotAgentWorkload', message);
  }
  if (protocolsOf(workload).length > 0) return undefined;
  const message = `${name} has no label ${labels.protocolPrefix}<name>, for example ${labels.protocolPrefix}a2a. Set it on the ${workload.ref.kind}, or delete this AgentCard.`;
  return final('NoProtocol', message);
}

function enrolment(runtime: AgentRuntime | undefined): string {
  if (runtime === undefined) return 'Create an AgentRuntime of type agent for it';
  const { name = '' } = runtime.metadata;
  if (runtime.spec.type === 'agent') return `AgentRuntime ${name} names it: see why its condition Ready is not True`;
  return `AgentRuntime ${name} names it as a tool: set its spec.type to agent`;
}

/** The protocols a workload's labels name: a2a first, the rest sorted. */
export function protocolsOf(workload: Pick<Workload, 'labels'>): readonly string[] {
  return Object.keys(workload.labels)
    .filter((label) => label.startsWith(labels.protocolPrefix) && label.length > labels.protocolPrefix.length)
    .map((label) => label.slice(labels.protocolPrefix.length))
    .sort((a, b) => Number(b === 'a2a') - Number(a === 'a2a') || (a < b ? -1 : 1));
}

interface Second {
  readonly card: AgentCard;
  readonly ref: TargetRef;
}

/** A generated one is still there for a moment, or for good: when somebody has written its spec, it is not withdrawn. */
function duplicate(winner: string, { card, ref: { kind, name } }: Second): Obstacle {
  const remedy = isGenerated(card)
    ? 'This one was generated; when its spec was written by somebody else, it is not deleted by itself: delete it.'
    : 'Delete one of the two, or change spec.targetRef.';
  return final('DuplicateTarget', `AgentCard ${winner} has ${kind} ${name} as its target and comes first. ${remedy}`);
}

function missing({ kind, name }: TargetRef, namespace: string): Obstacle {
  return final(
    'WorkloadNotFound',
    `${kind} ${name} does not exist in namespace ${namespace}. Create it, or correct spec.targetRef; its card is fetched then.`,
  );
}
