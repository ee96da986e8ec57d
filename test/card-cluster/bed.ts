/** The AgentCard controller beside a real API server, with agents that are HTTP servers of the test: operators, users, and what tests ask. */

import { crdManifest, crdSources } from '../../constructs/crds.ts';
import {
  createAgentCardController,
  createVerifiedLabelController,
  type VerificationOptions,
} from '../../runtime/agent-card/controller.ts';
import { createContacts } from '../../runtime/agent-card/contacts.ts';
import { createFetcher } from '../../runtime/agent-card/fetch.ts';
import { countFetches } from '../../runtime/agent-card/metering.ts';
import { permissions, trustBundlePermissions } from '../../runtime/agent-card/permissions.ts';
import { kinds } from '../../runtime/api/kinds.ts';
import { install, userAgent } from '../../runtime/api/names.ts';
import { configWatches, createLayerReader, type FileText } from '../../runtime/config/read.ts';
import type { Client } from '../../runtime/engine/client.ts';
import type { Clock } from '../../runtime/engine/clock.ts';
import { systemClock } from '../../runtime/engine/clock.ts';
import { createEvents } from '../../runtime/engine/events.ts';
import { createManager } from '../../runtime/engine/manager.ts';
import type { Controller, Kind, KubeObject, Live, ObjectKey, Permission } from '../../runtime/engine/types.ts';
import { createNetworkPolicyController } from '../../runtime/network-policy/controller.ts';
import { permissions as policyPermissions } from '../../runtime/network-policy/permissions.ts';
import { createVerdicts, type Verdicts } from '../../runtime/workload/verdicts.ts';
import { type ControlPlane, startControlPlane } from '../lab/control-plane.ts';
import { followAuditLog } from '../support/audit-log.ts';
import { createBed, eventually, portOf, reach } from '../support/engine-bed.ts';
import { grant, makeServiceAccount } from '../support/service-account.ts';
import { settled, untilIdle } from '../support/settled.ts';
import { type Agents, startAgents } from './agents.ts';

const noFile: Live<FileText> = {
  current: { text: undefined, path: '/etc/rossoctl/config.yaml' },
  subscribe: () => () => {},
};

export const bundlePlace = { namespace: 'zero-trust', name: 'spire-bundle' } as const;

export interface OperatorOptions {
  readonly verification?: Partial<VerificationOptions>;
  readonly clock?: Clock;
  readonly verdicts?: Verdicts;
  /** Of the fetches, in milliseconds. Default 10,000. */
  readonly timeoutMs?: number;
  readonly contactLimit?: number;
  /** Which namespaces it watches, by rights of its own. Default: all. */
  readonly namespaces?: readonly string[];
  /** Network policies follow the verdicts. Default: none is made. */
  readonly isEnforcing?: boolean;
}

export async function startCardBed(name: string) {
  const plane = await startControlPlane({ name, audit: true });
  const users = createBed(reach({ port: portOf(plane), certificatesDir: plane.certificatesDir }), {
    userAgent: 'users',
  });
  const { client } = users;
  for (const source of crdSources) {
    await client.create(kinds.customResourceDefinition, crdManifest(source) as unknown as KubeObject);
  }
  await eventually(() => client.list(kinds.agentCard));
  for (const namespace of [install.namespace, bundlePlace.namespace]) await makeNamespace(client, namespace);
  const agents = await startAgents();
  const running = new Set<Operator>();
  let accounts = 0;
  return {
    client,
    agents,
    startOperator: async (options: OperatorOptions = {}) => {
      accounts += 1;
      const account = `operator-${accounts}`;
      const token = await makeServiceAccount(client, install.namespace, account);
      await grantDeclared(client, account, options);
      const operator = await startOperator({ plane, agents, token, account }, options);
      running.add(operator);
      return operator;
    },
    /** Whether every operator at work knows this object, as `is` says of it. */
    isKnown: (kind: Kind, key: ObjectKey, is: (object: KubeObject) => boolean = () => true) =>
      [...running].every((operator) => operator.knows(kind, key, is)),
    stop: async () => {
      await Promise.all([...running].map((operator) => operator.stop()));
      await users.close();
      await agents.stop();
      await plane.stop();
    },
  };
}

export type CardBed = Awaited<ReturnType<typeof startCardBed>>;
export type Operator = Awaited<ReturnType<typeof startOperator>>;

/** What a namespace needs before pods can be made in it where no controller does it. */
export async function makeNamespace(client: Client, name: string): Promise<void> {
  await client.create(kinds.namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { namespace: name, name: 'default' } };
  await client.create(kinds.serviceAccount, account);
}

/** The declared permissions and no other; where the install watches some namespaces only, in each of those. */
async function grantDeclared(
  client: Client,
  account: string,
  { namespaces, isEnforcing = false }: OperatorOptions,
): Promise<void> {
  const declared = [
    ...permissions,
    ...trustBundlePermissions(bundlePlace.namespace, bundlePlace.name),
    ...(isEnforcing ? policyPermissions : []),
  ];
  const rules = (wanted: (scope: Permission['scope']) => boolean) =>
    declared
      .filter(({ scope }) => wanted(scope))
      .map(({ apiGroup, resources, verbs, resourceNames }) => ({
        apiGroups: [apiGroup],
        resources,
        verbs,
        ...(resourceNames === undefined ? {} : { resourceNames }),
      }));
  const to = `${install.namespace}/${account}`;
  const clusterWide = rules((scope) => scope === 'cluster');
  if (clusterWide.length > 0) await grant(client, to, { name: `${account}-cluster`, rules: clusterWide });
  const watched = rules((scope) => scope === 'watched');
  for (const namespace of namespaces ?? [undefined]) {
    await grant(client, to, { name: account, rules: watched, ...(namespace === undefined ? {} : { namespace }) });
  }
  await grant(client, to, { namespace: install.namespace, name: account, rules: rules((scope) => scope === 'own') });
  // An install that watches some namespaces only is let into this one only when it is told to be: tests look at what happens without.
  if (namespaces !== undefined) return;
  const inBundle = rules((scope) => typeof scope === 'object');
  await grant(client, to, { namespace: bundlePlace.namespace, name: account, rules: inBundle });
}

interface World {
  readonly plane: ControlPlane;
  readonly agents: Agents;
  readonly token: string;
  readonly account: string;
}

async function startOperator({ plane, agents, token, account }: World, options: OperatorOptions) {
  const { clock = systemClock, verification = {}, namespaces } = options;
  const connection = reach({ port: portOf(plane), certificatesDir: plane.certificatesDir, token });
  const bed = createBed(connection, { userAgent: `${userAgent}/${account}`, cache: { namespaces } });
  const { client, log, metrics } = bed;
  const cache = bed.newCache({ clock });
  const events = createEvents({ client, clock, log, metrics, instance: account });
  const manager = createManager({ client, cache, clock, log, metrics, events, onLost: () => {} });
  const watches = configWatches(install.namespace);
  const contacts = createContacts({
    ask: createFetcher({ reach: agents.reach, timeoutMs: options.timeoutMs ?? 10_000 }),
    time: clock,
    onAttempt: countFetches(metrics),
    ...(options.contactLimit === undefined ? {} : { limit: options.contactLimit }),
  });
  const verdicts = options.verdicts ?? createVerdicts();
  const shared = {
    layers: createLayerReader({ watches, operatorNamespace: install.namespace, configFile: noFile, gatesFile: noFile }),
    watches,
    files: {},
    metrics,
    verdicts,
  };
  const controller = createAgentCardController({
    ...shared,
    contacts,
    verification: {
      isRequired: true,
      isAudit: false,
      profiles: 'all',
      trustDomain: 'cluster.local',
      scope: 'trustDomain',
      bundle: { ...bundlePlace, key: '' },
      verdictSyncPeriods: 3,
      ...verification,
    },
    now: () => clock.now(),
    monotonicMs: () => clock.monotonicMs(),
  });
  manager.addController(controller as unknown as Controller);
  manager.addController(createVerifiedLabelController() as Controller);
  if (options.isEnforcing === true) {
    const enforcing = { ...shared, operatorNamespace: install.namespace, isAudit: false };
    manager.addController(createNetworkPolicyController(enforcing) as unknown as Controller);
  }
  const audit = followAuditLog(plane.auditLogPath ?? '', `system:serviceaccount:${install.namespace}:${account}`);
  await manager.start();
  let isStopped = false;
  return {
    log,
    metrics,
    bed,
    health: () => manager.health(),
    /** Looks at a card again, that often. */
    pass: async (key: ObjectKey, count = 1): Promise<void> => {
      for (let i = 0; i < count; i += 1) {
        // Right after its start the controller takes no key yet.
        await eventually(() => manager.wake('agentcard', key));
        await untilIdle(metrics, ['agentcard']);
      }
    },
    /** What it does about one namespace depends on no test beside. Requests that were answered, watches left out: those last. */
    requests: (namespace: string) =>
      audit.requests().filter(({ verb, objectRef }) => verb !== 'watch' && objectRef?.namespace === namespace),
    settled: () =>
      settled({ metrics, events, audit, controllers: manager.health().controllers.map(({ name }) => name) }),
    knows: (kind: Kind, key: ObjectKey, is: (object: KubeObject) => boolean): boolean => {
      const known = cache.peek(kind, key)?.object;
      return isStopped || (known !== undefined && is(known));
    },
    stop: async () => {
      if (isStopped) return;
      isStopped = true;
      await manager.stop();
      await bed.close();
    },
  };
}
