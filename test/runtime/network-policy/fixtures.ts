/** Builders for the network policy controller's tests: a card, its workload, its policy, and an observation of them. */

import type { AgentCard, AgentCardSpec, AgentCardStatus } from '../../../runtime/api/agent-card.ts';
import type { Condition } from '../../../runtime/api/conditions.ts';
import { kinds } from '../../../runtime/api/kinds.ts';
import type { LabelSelector, NetworkPolicy } from '../../../runtime/api/kubernetes.ts';
import { apiVersion, fieldManagers } from '../../../runtime/api/names.ts';
import { networkPolicyDefaults, type NetworkPolicySection } from '../../../runtime/config/network-policy.ts';
import type { KubeObject, Plan } from '../../../runtime/engine/types.ts';
import type { Observed } from '../../../runtime/network-policy/observed.ts';
import { isOurs } from '../../../runtime/network-policy/ownership.ts';
import {
  networkPolicy,
  permissiveRules,
  type PolicyFacts,
  restrictiveRules,
  type Surroundings,
} from '../../../runtime/network-policy/policies.ts';
import type { Target } from '../../../runtime/workload/find.ts';
import { rowOf, type WorkloadKind } from '../../../runtime/workload/kinds.ts';
import { judgedPart, type Verdict } from '../../../runtime/workload/verdicts.ts';
import { type Workload, workloadOf } from '../../../runtime/workload/workload.ts';

export const now = new Date('2026-01-01T12:00:00Z');
export const selector: LabelSelector = { matchLabels: { app: 'weather' } };

export function surroundings(settings: Partial<NetworkPolicySection> = {}): Surroundings {
  return { operatorNamespace: 'rossoctl-system', settings: { ...networkPolicyDefaults, ...settings } };
}

export function condition(type: string, status: Condition['status'], more: Partial<Condition> = {}): Condition {
  const reason = status === 'True' ? 'SignatureVerified' : 'SignatureInvalid';
  return {
    type,
    status,
    reason,
    message: 'Said so.',
    lastTransitionTime: '2026-01-01T00:00:00Z',
    observedGeneration: 1,
    ...more,
  };
}

export interface CardShape {
  readonly name?: string;
  readonly namespace?: string;
  readonly uid?: string;
  readonly generation?: number;
  readonly created?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly deleted?: boolean;
  readonly spec?: Partial<AgentCardSpec>;
  readonly status?: AgentCardStatus;
  /** Short for a status with this condition. */
  readonly verified?: Condition['status'];
}

/** A card of Deployment `weather`, not judged yet. */
export function card(shape: CardShape = {}): AgentCard {
  const name = shape.name ?? 'weather';
  const { verified, labels } = shape;
  const status = shape.status ?? (verified === undefined ? undefined : statusOf(verified));
  return {
    apiVersion,
    kind: 'AgentCard',
    metadata: {
      namespace: shape.namespace ?? 'team1',
      name,
      uid: shape.uid ?? `uid-${name}`,
      generation: shape.generation ?? 1,
      creationTimestamp: shape.created ?? '2026-01-01T00:00:00Z',
      ...(labels === undefined ? {} : { labels }),
      ...(shape.deleted === true ? { deletionTimestamp: '2026-01-01T01:00:00Z' } : {}),
    },
    spec: { targetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'weather' }, ...shape.spec },
    ...(status === undefined ? {} : { status }),
  };
}

/** Of a card whose verdict is this. */
export function statusOf(verified: Condition['status'], more: Partial<AgentCardStatus> = {}): AgentCardStatus {
  return { observedGeneration: 1, conditions: [condition('Verified', verified)], ...more };
}

/** What the card controller knows, which has written the status of this card. */
export function reachedOf(of: AgentCard): Verdict | undefined {
  const { conditions = [], certificateExpires: expires } = of.status ?? {};
  const verified = conditions.find(({ type }) => type === 'Verified');
  if (verified === undefined) return undefined;
  const { reason, observedGeneration } = verified;
  const about = observedGeneration === of.metadata.generation ? judgedPart(of) : 'an earlier spec';
  return { isVerified: verified.status === 'True', reason, about, expires };
}

/** A workload as the cache keeps it. */
export function workload(kind: WorkloadKind = 'Deployment', spec: object = { selector }, name = 'weather'): Workload {
  const version = kind === 'Job' || kind === 'CronJob' ? 'batch/v1' : 'apps/v1';
  const row = rowOf({ apiVersion: version, kind });
  if (row === undefined) throw new Error(kind);
  const metadata = { namespace: 'team1', name, uid: `uid-${kind}-${name}` };
  return workloadOf(row, { apiVersion: version, kind, metadata, spec } as KubeObject);
}

/** A policy as the API server has it once it was applied. */
export function policy(facts: Partial<PolicyFacts> & { readonly rules?: PolicyFacts['rules'] } = {}): NetworkPolicy {
  const of = {
    card: card(),
    name: 'weather-signature-policy',
    podSelector: selector,
    rules: restrictiveRules(surroundings()),
    ...facts,
  };
  return stored(networkPolicy(of).body as NetworkPolicy);
}

export function permissive(facts: Partial<PolicyFacts> = {}): NetworkPolicy {
  return policy({ rules: permissiveRules(surroundings()), ...facts });
}

/** A policy that somebody else made. */
export function foreignPolicy(name = 'weather-signature-policy'): NetworkPolicy {
  return {
    apiVersion: kinds.networkPolicy.apiVersion,
    kind: 'NetworkPolicy',
    metadata: { namespace: 'team1', name, uid: `uid-foreign-${name}` },
    spec: { podSelector: {} },
  };
}

function stored(body: NetworkPolicy): NetworkPolicy {
  const managedFields = [{ manager: fieldManagers.networkPolicy, operation: 'Apply' }] as const;
  const { name } = body.metadata;
  return { ...body, metadata: { uid: `uid-${name}`, resourceVersion: '1', ...body.metadata, managedFields } };
}

/** A card that counts, whose workload is there and which has no policy yet. */
export function observed(over: Partial<Observed> = {}): Observed {
  const target: Target = { found: workload() };
  return {
    card: card(),
    verdict: over.card && reachedOf(over.card),
    isAudit: false,
    isTerminating: false,
    counts: true,
    target,
    surroundings: surroundings(),
    problems: [],
    name: 'weather-signature-policy',
    policy: undefined,
    isOurs: over.policy !== undefined && isOurs(over.policy),
    holder: undefined,
    own: over.policy === undefined ? [] : [over.policy],
    awaited: new Set(),
    ...over,
  };
}

/** What the API server would hold after the plan: the observation to be made next. */
export function after(before: Observed, plan: Plan<AgentCardStatus>): Observed {
  const applied = (plan.apply ?? []).map(({ body }) => stored(body as NetworkPolicy));
  const gone = new Set((plan.remove ?? []).map(({ name }) => name));
  const names = new Set(applied.map(({ metadata }) => metadata.name));
  const left = before.own.filter(({ metadata }) => !gone.has(metadata.name ?? '') && !names.has(metadata.name));
  const own = [...left, ...applied];
  const mine = own.find(({ metadata }) => metadata.name === before.name);
  return {
    ...before,
    own,
    policy: mine ?? (gone.has(before.name) ? undefined : before.policy),
    isOurs: mine !== undefined || (before.isOurs && !gone.has(before.name)),
    holder: mine === undefined ? before.holder : undefined,
    card: plan.status === undefined ? before.card : withConditions(before.card, plan.status.conditions ?? []),
  };
}

/** As server-side apply of one manager leaves the conditions of the other. */
function withConditions(of: AgentCard, conditions: readonly Condition[]): AgentCard {
  const others = (of.status?.conditions ?? []).filter(({ type }) => type !== 'NetworkPolicyReady');
  return { ...of, status: { ...of.status, conditions: [...others, ...conditions] } };
}
