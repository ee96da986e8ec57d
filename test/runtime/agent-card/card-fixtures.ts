/** Builders for the tests of decisions about AgentCards: a weather agent, its card, and an observation in which all is well. */

import type { AgentCard, AgentCardStatus } from '../../../runtime/api/agent-card.ts';
import { kinds } from '../../../runtime/api/kinds.ts';
import { isSameTarget } from '../../../runtime/api/target-ref.ts';
import { apiVersion, labels } from '../../../runtime/api/names.ts';
import type { Assessment } from '../../../runtime/agent-card/assess.ts';
import type { Endpoint } from '../../../runtime/agent-card/contact.ts';
import { bindingOf } from '../../../runtime/agent-card/binding.ts';
import type { Facts, Marked, Observed, Talk } from '../../../runtime/agent-card/observed.ts';
import { obstacleOf } from '../../../runtime/agent-card/obstacles.ts';
import type { Bundle } from '../../../runtime/agent-card/trust-bundle.ts';
import type { Kind, KubeObject, Plan } from '../../../runtime/engine/types.ts';
import type { Verification } from '../../../runtime/signature/verify.ts';
import { rowOf } from '../../../runtime/workload/kinds.ts';
import { type Workload, workloadOf } from '../../../runtime/workload/workload.ts';

export const now = new Date('2026-01-01T12:00:00Z');
export const later = (ms: number): Date => new Date(now.getTime() + ms);
export const verified = labels.signatureVerified;
export const targetRef = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'weather' };

export function workload(own: Readonly<Record<string, string>> = agent, serviceAccount?: string): Workload {
  const row = rowOf(targetRef);
  if (row === undefined) throw new Error('no row');
  const spec = { containers: [{ name: 'agent' }], ...(serviceAccount && { serviceAccountName: serviceAccount }) };
  return workloadOf(row, {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { namespace: 'team1', name: 'weather', uid: 'uid-d', labels: own },
    spec: { template: { metadata: { labels: { app: 'weather', 'rossoctl.io/type': 'agent' } }, spec } },
  } as KubeObject);
}

export const agent: Readonly<Record<string, string>> = {
  'rossoctl.io/type': 'agent',
  'protocol.rossoctl.io/a2a': '',
};

export function card(more: Partial<AgentCard['spec']> = {}, status?: AgentCardStatus): AgentCard {
  return {
    apiVersion,
    kind: 'AgentCard',
    metadata: {
      namespace: 'team1',
      name: 'weather',
      uid: 'uid-c',
      generation: 1,
      creationTimestamp: '2026-01-01T00:00:00Z',
    },
    spec: { targetRef, ...more },
    ...(status === undefined ? {} : { status }),
  };
}

export const endpoint: Endpoint = {
  pod: 'weather-1',
  revision: '',
  address: '10.0.0.1',
  port: 8080,
  host: 'weather.team1.svc:8080',
  via: 'Service weather',
};

/** The agent has just answered. */
export const talk: Talk = {
  received: { body: Buffer.from('{}'), hash: 'h', path: '/.well-known/agent-card.json' },
  failure: undefined,
  answeredAt: now,
  isAnswered: true,
  isLost: false,
  lostAt: undefined,
  via: 'Service weather',
};

export const valid: Extract<Verification, { readonly isValid: true }> = {
  isValid: true,
  isBound: true,
  binding: { reason: 'Bound', message: 'the card is signed by its own' },
  spiffeId: 'spiffe://cluster.local/ns/team1/sa/default',
  keyId: 'kid',
  algorithm: 'ES256',
  profile: 'jcs',
  expires: later(3_600_000),
  card: { name: 'Weather' },
  unsigned: [],
};

export function read(verification: Verification | undefined, name = 'Weather'): Assessment {
  return {
    kind: 'read',
    document: { card: { name }, cardHash: `hash of ${name}`, agent: { name } },
    verification,
  };
}

export const usable: Bundle = { kind: 'usable', bundle: { hash: 'bundle', anchors: [], warnings: [] } };

const ref = (kind: Kind, name: string, uid: string): Marked['ref'] => ({ kind, namespace: 'team1', name, uid });
export const deploymentMark = (value?: string): Marked => ({
  ref: ref(kinds.deployment as Kind, 'weather', 'uid-d'),
  value,
});
export const podMark = (name: string, value?: string): Marked => ({
  ref: ref(kinds.pod as Kind, name, `uid-${name}`),
  value,
});

/** Its status as this process has said it itself. */
function keptOf({ status, spec }: AgentCard): AgentCardStatus {
  return status?.targetRef !== undefined && isSameTarget(status.targetRef, spec.targetRef) ? status : {};
}

/** Signatures are required; the card is signed, bound and answered; nothing is labelled yet. */
export function observed(over: Partial<Observed> = {}): Observed {
  const of = over.card ?? card();
  const target = over.target ?? { found: workload() };
  const facts: Facts = {
    card: of,
    target,
    winner: undefined,
    protocols: ['a2a'],
    whereabouts: { found: [endpoint] },
    ...over,
  };
  return {
    policy: { isRequired: true, isAudit: false, profiles: 'all' },
    kept: keptOf(of),
    keptSignature: undefined,
    obstacle: obstacleOf(facts),
    talk,
    binding: bindingOf(of, 'found' in target ? target.found : undefined, {
      trustDomain: { name: 'cluster.local' },
      scope: 'trustDomain',
    }),
    bundle: usable,
    assessment: read(valid),
    marked: [deploymentMark(), podMark('a')],
    strays: [],
    former: [],
    hasHeir: false,
    ...facts,
    ...over,
  };
}

/** `status/reason` of a condition in a plan. */
export function condition({ status }: Plan<AgentCardStatus>, type: string): string {
  const found = status?.conditions?.find((one) => one.type === type);
  return found === undefined ? 'absent' : `${found.status}/${found.reason}`;
}

/** `+name` where the label is set, `-name` where it is taken away, in the order of the writes. */
export function patches({ patch = [] }: Plan<AgentCardStatus>): readonly string[] {
  return patch.map(({ target, body }) => {
    const { labels: written } = (body as { metadata: { labels: Record<string, string | null> } }).metadata;
    return `${written[verified] === 'true' ? '+' : '-'}${target.name}`;
  });
}

/** What the API server would hold after the plan, and what would be observed then. */
export function after(before: Observed, plan: Plan<AgentCardStatus>): Observed {
  const written = new Map(
    (plan.patch ?? []).map(({ target, body }) => {
      const own = (body as { metadata: { labels: Record<string, string | null> } }).metadata.labels;
      return [target.uid, own[verified] ?? undefined];
    }),
  );
  const marks = (all: readonly Marked[]): readonly Marked[] =>
    all.map((one) => (written.has(one.ref.uid) ? { ...one, value: written.get(one.ref.uid) } : one));
  const { status = before.card.status } = plan;
  return {
    ...before,
    kept: plan.status ?? before.kept,
    card: { ...before.card, ...(status === undefined ? {} : { status }) },
    marked: marks(before.marked),
    strays: marks(before.strays).filter(({ value }) => value !== undefined),
    former: [],
  };
}
