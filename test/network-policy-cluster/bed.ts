/** The network policy controller beside a real API server: how tests start operators, act as users and as the card controller, and count requests. */

import assert from 'node:assert/strict';
import { crdManifest, crdSources } from '../../constructs/crds.ts';
import type { AgentCard, AgentCardSpec, AgentCardStatus } from '../../runtime/api/agent-card.ts';
import type { Condition } from '../../runtime/api/conditions.ts';
import { kinds } from '../../runtime/api/kinds.ts';
import type { NetworkPolicy } from '../../runtime/api/kubernetes.ts';
import { apiVersion, install } from '../../runtime/api/names.ts';
import { configWatches, createLayerReader, type FileText } from '../../runtime/config/read.ts';
import { createEvents } from '../../runtime/engine/events.ts';
import { createManager } from '../../runtime/engine/manager.ts';
import type { Metrics } from '../../runtime/engine/metrics.ts';
import type { Controller, KubeObject, Live, OwnerReference } from '../../runtime/engine/types.ts';
import { createNetworkPolicyController, type NetworkPolicyOptions } from '../../runtime/network-policy/controller.ts';
import { createVerdicts, type Verdicts } from '../../runtime/workload/verdicts.ts';
import { type ControlPlane, startControlPlane } from '../lab/control-plane.ts';
import { type AuditLog, followAuditLog, isWrite } from '../support/audit-log.ts';
import { type Bed, createBed, eventually, portOf, reach } from '../support/engine-bed.ts';
import { eventsOf } from '../support/events.ts';
import { createJudging } from '../support/judging.ts';
import { kindOf } from '../support/operator-platform.ts';
import { settled } from '../support/settled.ts';
import { workload, type Written } from '../support/workload-objects.ts';

const noFile: Live<FileText> = {
  current: { text: undefined, path: '/etc/rossoctl/config.yaml' },
  subscribe: () => () => {},
};

export interface OperatorOptions {
  readonly isAudit?: boolean;
  /** Nobody judges: what a status says is not the operator's. */
  readonly verdicts?: Verdicts;
  /** Default: the administrator's certificate. */
  readonly token?: string;
  /** More controllers beside the one of network policies. */
  readonly beside?: (options: NetworkPolicyOptions & { readonly metrics: Metrics }) => readonly Controller[];
}

export async function startPolicyBed(name: string) {
  const plane = await startControlPlane({ name, withControllerManager: true, audit: true });
  const users = bedOf(plane, 'users');
  const { client } = users;
  for (const source of crdSources) {
    await client.create(kinds.customResourceDefinition, crdManifest(source) as unknown as KubeObject);
  }
  await eventually(() => Promise.all([client.list(kinds.agentCard), client.list(kinds.agentRuntime)]));
  await client.create(kinds.namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: install.namespace } });
  const running = new Set<{ stop(): Promise<void> }>();
  let operators = 0;
  return {
    plane,
    client,
    startOperator: async (options: OperatorOptions = {}) => {
      operators += 1;
      const agent = `operator-${operators}`;
      const audit = followAuditLog(plane.auditLogPath ?? '', agent, 'userAgent');
      const operator = await startOperator(bedOf(plane, agent, options.token), { instance: agent, audit }, options);
      running.add(operator);
      return operator;
    },
    stop: async () => {
      await Promise.all([...running].map((operator) => operator.stop()));
      await users.close();
      await plane.stop();
    },
  };
}

export type PolicyBed = Awaited<ReturnType<typeof startPolicyBed>>;
export type Operator = Awaited<ReturnType<PolicyBed['startOperator']>>;

function bedOf(plane: ControlPlane, userAgent: string, token?: string): Bed {
  return createBed(reach({ port: portOf(plane), certificatesDir: plane.certificatesDir, token }), { userAgent });
}

interface Identity {
  readonly instance: string;
  readonly audit: AuditLog;
}

async function startOperator(
  bed: Bed,
  { instance, audit }: Identity,
  { isAudit = false, verdicts, beside }: OperatorOptions,
) {
  const { client, clock, log, metrics } = bed;
  const watches = configWatches(install.namespace);
  const events = createEvents({ client, clock, log, metrics, instance });
  const cache = bed.newCache({ timings: { backOff: { baseMs: 50, capMs: 400, jitter: 0.5 } } });
  const manager = createManager({ client, cache, clock, log, metrics, events, onLost: () => {} });
  const options: NetworkPolicyOptions & { readonly metrics: Metrics } = {
    layers: createLayerReader({ watches, operatorNamespace: install.namespace, configFile: noFile, gatesFile: noFile }),
    watches,
    files: {},
    metrics,
    operatorNamespace: install.namespace,
    isAudit,
    verdicts: verdicts ?? createVerdicts(),
  };
  manager.addController(createNetworkPolicyController(options) as unknown as Controller);
  if (verdicts === undefined) manager.addController(createJudging(options.verdicts) as unknown as Controller);
  for (const controller of beside?.(options) ?? []) manager.addController(controller);
  await manager.start();
  let isStopped = false;
  return {
    log,
    metrics,
    events,
    manager,
    /** Looks at one card again, as a change of it would make it. */
    wake: (namespace: string, name: string) => manager.wake('networkpolicy', { namespace, name }),
    writes: (namespace: string) => writesIn(audit, namespace),
    settled: () =>
      settled({ metrics, events, audit, controllers: manager.health().controllers.map(({ name }) => name) }),
    stop: async () => {
      if (isStopped) return;
      isStopped = true;
      await manager.stop();
      await bed.close();
    },
  };
}

/** Writes of one operator in one namespace, events left out: `patch networkpolicies/weather-signature-policy`. */
function writesIn(audit: AuditLog, namespace: string): readonly string[] {
  return audit
    .requests()
    .filter(isWrite)
    .filter(({ objectRef }) => objectRef?.namespace === namespace && objectRef.resource !== 'events')
    .map(({ verb, objectRef = {} }) =>
      [verb, [objectRef.resource, objectRef.subresource, objectRef.name].filter(Boolean).join('/')].join(' '),
    );
}

export interface CardOptions {
  readonly kind?: 'Deployment' | 'StatefulSet' | 'DaemonSet' | 'CronJob';
  readonly target?: string;
  readonly spec?: Partial<AgentCardSpec>;
  readonly labels?: Readonly<Record<string, string>>;
  readonly owners?: readonly OwnerReference[];
}

/** What tests do and ask in one namespace. */
export async function inNamespace({ client }: PolicyBed, namespace: string) {
  await client.create(kinds.namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
  const policyKey = (name: string) => ({ namespace, name });
  const cardOf = (name = 'weather') => client.get(kinds.agentCard, { namespace, name });
  const policies = async () => (await client.list(kinds.networkPolicy, { namespace })).items;
  const policyOf = async (name = 'weather-signature-policy') =>
    (await policies()).find(({ metadata }) => metadata.name === name);
  const reasonOf = async (card: string) => {
    const { status } = await cardOf(card);
    return status?.conditions?.find(({ type }) => type === 'NetworkPolicyReady')?.reason;
  };
  return {
    namespace,
    client,
    cardOf,
    policies,
    policyOf,
    reasonOf,
    create: (object: Written) => client.create(kindOf(object), object),
    /** A workload that runs no pod, and its card. */
    agent: async (name = 'weather') => {
      await client.create(kinds.deployment as never, workload('Deployment', namespace, name));
      return createCard(name);
    },
    card: createCard,
    /** Writes the status as the card controller does: under its own field manager, the generation stated. */
    judge: async (status: Condition['status'], more: Partial<AgentCardStatus> = {}, name = 'weather') => {
      const { metadata } = await cardOf(name);
      const reason = status === 'True' ? 'SignatureVerified' : 'SignatureInvalid';
      const verified = {
        type: 'Verified',
        status,
        reason,
        message: 'Said so.',
        lastTransitionTime: '2026-01-01T00:00:00Z',
        observedGeneration: metadata.generation,
      };
      const body = {
        apiVersion,
        kind: 'AgentCard',
        metadata: { namespace, name },
        status: { observedGeneration: metadata.generation, conditions: [verified], ...more },
      };
      return client.apply(
        { kind: kinds.agentCard, body },
        { fieldManager: 'rossoctl-agent-card', subresource: 'status' },
      );
    },
    /** Waits until the condition has this reason. */
    says: (reason: string | undefined, card = 'weather') =>
      eventually(async () => {
        const said = await reasonOf(card);
        if (said !== reason) throw new Error(`${card} says ${said ?? 'nothing'}, not ${reason ?? 'nothing'}`);
      }),
    /** Waits until the policy is open or closed, and gives it. */
    becomes: async (
      state: 'permissive' | 'restrictive' | 'absent',
      name = 'weather-signature-policy',
      withinMs?: number,
    ) => {
      let found: NetworkPolicy | undefined;
      await eventually(async () => {
        found = await policyOf(name);
        const is = stateOf(found);
        if (is !== state) throw new Error(`${name} is ${is}, not ${state}`);
      }, withinMs);
      return found as NetworkPolicy;
    },
    edit: (body: object, name = 'weather-signature-policy') =>
      client.mergePatch({ kind: kinds.networkPolicy, ...policyKey(name) }, body as Readonly<Record<string, unknown>>),
    remove: (kind: 'agentCard' | 'networkPolicy' | 'deployment' | 'statefulSet', name: string) =>
      client.remove({ kind: kinds[kind], namespace, name }),
    /** Reasons of the events that were told by us. */
    events: async () => (await eventsOf(client, namespace)).map(({ reason }) => reason),
  };

  async function createCard(
    name = 'weather',
    { kind = 'Deployment', target = name, spec = {}, labels = {}, owners = [] }: CardOptions = {},
  ): Promise<AgentCard> {
    const version = kind === 'CronJob' ? 'batch/v1' : 'apps/v1';
    return client.create(kinds.agentCard, {
      apiVersion,
      kind: 'AgentCard',
      metadata: { namespace, name, labels, ownerReferences: owners },
      spec: { targetRef: { apiVersion: version, kind, name: target }, ...spec },
    });
  }
}

/** Nothing is written any more, however often everything is looked at. */
export async function assertQuiet(operator: Operator, namespace: string, ...cards: readonly string[]): Promise<void> {
  await operator.settled();
  const before = operator.writes(namespace).length;
  for (let i = 0; i < 5; i += 1) {
    for (const card of cards) operator.wake(namespace, card);
    await operator.settled();
  }
  assert.deepEqual(operator.writes(namespace).slice(before), []);
}

/** The garbage collector learns of a new kind of owner twice a minute. */
export const collectedMs = 90_000;

/** By what it lets through, not by what it says of itself. */
export function stateOf(policy: NetworkPolicy | undefined): 'permissive' | 'restrictive' | 'absent' | 'other' {
  if (policy === undefined) return 'absent';
  const peers = (policy.spec?.ingress ?? []).flatMap(({ from = [] }) => from).length;
  const isOpenOut = JSON.stringify(policy.spec?.egress) === '[{}]';
  if (peers === 2 && isOpenOut) return 'permissive';
  return peers === 1 && policy.spec?.egress?.length === 2 ? 'restrictive' : 'other';
}
