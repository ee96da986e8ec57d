/** What somebody else has written into a card's status where the operator says nothing: taken out, for it would be read as ours. */

import { type AgentCard, AgentCardStatus } from '../api/agent-card.ts';
import { agentCardReasons, type Condition } from '../api/conditions.ts';
import { kinds } from '../api/kinds.ts';
import type { MergePatch } from '../engine/types.ts';
import { conditionsOf } from '../workload/calmed.ts';

type Members = Readonly<Record<string, unknown>>;

const members = Object.keys(AgentCardStatus.properties).filter((name) => name !== 'conditions');
/** Types of conditions. */
export const ours: readonly string[] = Object.keys(agentCardReasons).filter((type) => type !== 'NetworkPolicyReady');

/** All of a status but the conditions of others. */
export function own(status: AgentCardStatus): AgentCardStatus {
  return { ...status, conditions: conditionsOf(status, ours) };
}

/**
 * A merge patch of the status, or none. Server-side apply puts back what the operator states and takes back what it stated; what else is there
 * once the status says what it should is another's. Only that is looked at: a patch before would repeat what apply does.
 */
export function foreignRemovals({ metadata, status = {} }: AgentCard, desired: AgentCardStatus): readonly MergePatch[] {
  const { conditions = [] } = status;
  const stated = new Map((desired.conditions ?? []).map((condition) => [condition.type, condition]));
  if ([...stated.values()].some((condition) => !isSaid(condition, conditions))) return [];
  const removed = beyond(status, desired);
  const left = conditions.filter(({ type }) => !ours.includes(type) || stated.has(type));
  const isLeft = left.length === conditions.length;
  if (removed === undefined && isLeft) return [];
  const { namespace, name = '', uid, resourceVersion } = metadata;
  const target = { kind: kinds.agentCard, namespace, name, uid };
  // The list is replaced as a whole: not over a condition that somebody adds meanwhile.
  const body = { metadata: { resourceVersion }, status: { ...removed, ...(isLeft ? {} : { conditions: left }) } };
  return [{ target, subresource: 'status', body }];
}

function isSaid(wanted: Condition, conditions: readonly Condition[]): boolean {
  const { status, reason, message } = conditions.find(({ type }) => type === wanted.type) ?? {};
  return status === wanted.status && reason === wanted.reason && message === wanted.message;
}

/** `null` for each member that is there and not stated, also one level down; the card itself is one value. */
function beyond(status: AgentCardStatus, desired: AgentCardStatus): Members | undefined {
  const entries = members.flatMap((name): readonly (readonly [string, unknown])[] => {
    const [there, wanted] = [member(status, name), member(desired, name)];
    if (there === undefined) return [];
    if (wanted === undefined) return [[name, null]];
    if (name === 'card' || !isMembers(there) || !isMembers(wanted)) return [];
    const inside = Object.keys(there).filter((key) => wanted[key] === undefined);
    return inside.length === 0 ? [] : [[name, Object.fromEntries(inside.map((key) => [key, null]))]];
  });
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}

function member(of: AgentCardStatus, name: string): unknown {
  return (of as Members)[name];
}

function isMembers(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
