/** The discovery of agents beside a real API server: operators that hold the declared rights alone, users, and what tests ask of both. */

import assert from 'node:assert/strict';
import { crdManifest, crdSources } from '../../constructs/crds.ts';
import { createAgentCardSyncControllers } from '../../runtime/agent-card-sync/controller.ts';
import { permissions } from '../../runtime/agent-card-sync/permissions.ts';
import type { AgentCard } from '../../runtime/api/agent-card.ts';
import { kinds } from '../../runtime/api/kinds.ts';
import { apiVersion, fieldManagers, install } from '../../runtime/api/names.ts';
import { isNotFound } from '../../runtime/engine/errors.ts';
import { createEvents } from '../../runtime/engine/events.ts';
import { createManager } from '../../runtime/engine/manager.ts';
import type { Kind, KubeObject, ObjectMeta } from '../../runtime/engine/types.ts';
import { type ControlPlane, startControlPlane } from '../lab/control-plane.ts';
import { type AuditLog, followAuditLog, isWrite } from '../support/audit-log.ts';
import { createBed, eventually, metric, portOf, reach } from '../support/engine-bed.ts';
import { eventsOf } from '../support/events.ts';
import { grant, makeServiceAccount } from '../support/service-account.ts';
import { writesAnswered } from '../support/settled.ts';

/** Whose rights to name an owner are looked at too, as a cautious administrator has it. */
const cautious = ['--enable-admission-plugins=OwnerReferencesPermissionEnforcement'];

export async function startSyncBed(name: string) {
  const plane = await startControlPlane({
    name,
    withControllerManager: true,
    audit: true,
    flags: { apiServer: cautious },
  });
  const users = createBed(reach({ port: portOf(plane), certificatesDir: plane.certificatesDir }), {
    userAgent: 'users',
  });
  const { client } = users;
  for (const source of crdSources) {
    await client.create(kinds.customResourceDefinition, crdManifest(source) as unknown as KubeObject);
  }
  await eventually(() => client.list(kinds.agentCard));
  await client.create(kinds.namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: install.namespace } });
  const token = await makeServiceAccount(client, install.namespace, install.serviceAccount);
  const rules = permissions.map(({ apiGroup, resources, verbs }) => ({ apiGroups: [apiGroup], resources, verbs }));
  await grant(client, `${install.namespace}/${install.serviceAccount}`, { name: 'operator', rules });
  const account = `system:serviceaccount:${install.namespace}:${install.serviceAccount}`;
  const audit = followAuditLog(plane.auditLogPath ?? '', account);
  const running = new Set<Awaited<ReturnType<typeof startOperator>>>();
  return {
    client,
    audit,
    startOperator: async () => {
      const operator = await startOperator(plane, token);
      running.add(operator);
      return operator;
    },
    /** Waits until the audit log has every write that was answered to any of the operators, stopped ones too. */
    isLogged: () =>
      eventually(async () => {
        const answered = await writesAnswered([...running].map(({ metrics }) => metrics));
        assert.equal(audit.requests().filter(isWrite).length, answered);
      }),
    stop: async () => {
      await Promise.all([...running].map((operator) => operator.stop()));
      await users.close();
      await plane.stop();
    },
  };
}

export type SyncBed = Awaited<ReturnType<typeof startSyncBed>>;
export type Operator = Awaited<ReturnType<SyncBed['startOperator']>>;

async function startOperator(plane: ControlPlane, token: string) {
  const bed = createBed(reach({ port: portOf(plane), certificatesDir: plane.certificatesDir, token }));
  const { client, clock, log, metrics } = bed;
  const events = createEvents({ client, clock, log, metrics, instance: 'operator' });
  const manager = createManager({ client, cache: bed.newCache(), clock, log, metrics, events, onLost: () => {} });
  for (const controller of createAgentCardSyncControllers()) manager.addController(controller);
  await manager.start();
  await eventually(() => manager.health().controllers.every(({ state }) => state === 'running'));
  let isStopped = false;
  return {
    log,
    metrics,
    /** Resolves after that many more passes over a workload that nothing happened to. */
    pass: async (kind: 'Deployment' | 'StatefulSet', key: { namespace: string; name: string }, count = 1) => {
      const controller = `agentcardsync-${kind.toLowerCase()}`;
      const passes = () => metric(bed, `controller_runtime_reconcile_time_seconds_count{controller="${controller}"}`);
      for (let i = 0; i < count; i += 1) {
        const done = await passes();
        assert.equal(manager.wake(controller, key), true);
        await eventually(async () => (await passes()) > done);
      }
    },
    stop: async () => {
      if (isStopped) return;
      isStopped = true;
      await manager.stop();
      await bed.close();
    },
  };
}

export const agent = { 'rossoctl.io/type': 'agent', 'protocol.rossoctl.io/a2a': '' } as const;

/** A workload without pods. */
export function workload(
  kind: 'Deployment' | 'StatefulSet',
  namespace: string,
  name: string,
  labels: Readonly<Record<string, string>> = agent,
): KubeObject & Readonly<Record<string, unknown>> {
  const app = { app: name };
  return {
    apiVersion: 'apps/v1',
    kind,
    metadata: { namespace, name, labels },
    spec: {
      replicas: 0,
      selector: { matchLabels: app },
      ...(kind === 'StatefulSet' ? { serviceName: name } : {}),
      template: { metadata: { labels: app }, spec: { containers: [{ name: 'agent', image: 'example.test/agent:1' }] } },
    },
  };
}

export const kindOfWorkload = { Deployment: kinds.deployment as Kind, StatefulSet: kinds.statefulSet as Kind } as const;

/** A card made by hand, of a Deployment. */
export function handMade(namespace: string, name: string, target: string, spec: object = {}): AgentCard {
  const targetRef = { apiVersion: 'apps/v1', kind: 'Deployment', name: target };
  return { apiVersion, kind: 'AgentCard', metadata: { namespace, name }, spec: { targetRef, ...spec } };
}

/** What tests ask of one namespace. */
export async function inNamespace({ client, audit }: SyncBed, namespace: string) {
  await client.create(kinds.namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
  const cards = async () => (await client.list(kinds.agentCard, { namespace })).items;
  const names = async () => (await cards()).map(({ metadata }) => metadata.name ?? '').sort();
  return {
    namespace,
    create: (kind: 'Deployment' | 'StatefulSet', name: string, labels?: Readonly<Record<string, string>>) =>
      client.create(kindOfWorkload[kind], workload(kind, namespace, name, labels)),
    createCard: (name: string, target: string, spec: object = {}) =>
      client.create(kinds.agentCard, handMade(namespace, name, target, spec)),
    card: (name: string) => client.get(kinds.agentCard, { namespace, name }),
    cards,
    names,
    /** Waits until exactly these cards exist. */
    has: (...wanted: readonly string[]) => eventually(async () => assert.deepEqual(await names(), [...wanted].sort())),
    patchCard: (name: string, body: Readonly<Record<string, unknown>>) =>
      client.mergePatch({ kind: kinds.agentCard, namespace, name }, body),
    label: (kind: 'Deployment' | 'StatefulSet', name: string, labels: Readonly<Record<string, string | null>>) =>
      client.mergePatch({ kind: kindOfWorkload[kind], namespace, name }, { metadata: { labels } }),
    removeCard: (name: string) => client.remove({ kind: kinds.agentCard, namespace, name }),
    removeWorkload: async (kind: 'Deployment' | 'StatefulSet', name: string) => {
      await client.remove({ kind: kindOfWorkload[kind], namespace, name });
      await eventually(() =>
        client.get(kindOfWorkload[kind], { namespace, name }).then(
          () => false,
          (error: unknown) => isNotFound(error),
        ),
      );
    },
    /** Events beside the namespace's objects, as `reason: note`. */
    events: async () => (await eventsOf(client, namespace)).map(({ reason, note }) => `${reason}: ${note}`),
    writes: () => writesIn(audit, namespace),
    /** Waits until exactly these writes are in the audit log: a card is seen before the line about it. */
    wrote: (...wanted: readonly string[]) => eventually(() => assert.deepEqual(writesIn(audit, namespace), wanted)),
  };
}

export type Space = Awaited<ReturnType<typeof inNamespace>>;

/** Writes of all operators about AgentCards of a namespace. */
function writesIn(audit: AuditLog, namespace: string): readonly string[] {
  return audit
    .requests()
    .filter(isWrite)
    .filter(({ objectRef }) => objectRef?.namespace === namespace && objectRef.resource === 'agentcards')
    .map(({ verb, objectRef }) => `${verb} ${objectRef?.name ?? ''}`.trim());
}

/** The owner that a generated card states. */
export function ownerOf({ apiVersion: version, kind, metadata }: KubeObject) {
  const { name = '', uid = '' }: ObjectMeta = metadata;
  return { apiVersion: version, kind, name, uid, controller: true, blockOwnerDeletion: false };
}

export const ours = fieldManagers.agentCardSync;
