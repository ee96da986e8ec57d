/** The enrolment controller beside a real API server: how tests start and restart an operator, act as users, and count its requests. */

import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { crdManifest, crdSources } from '../../constructs/crds.ts';
import type { ReversalLimits } from '../../runtime/agent-runtime/reversals.ts';
import { createAgentRuntimeController } from '../../runtime/agent-runtime/controller.ts';
import type { SnagLimits } from '../../runtime/agent-runtime/snags.ts';
import { kinds } from '../../runtime/api/kinds.ts';
import type { Pod } from '../../runtime/api/kubernetes.ts';
import { install } from '../../runtime/api/names.ts';
import { configWatches, createLayerReader, type FileText } from '../../runtime/config/read.ts';
import { createEvents } from '../../runtime/engine/events.ts';
import { createManager } from '../../runtime/engine/manager.ts';
import type { Controller, Kind, KubeObject, Live } from '../../runtime/engine/types.ts';
import { type ControlPlane, startControlPlane } from '../lab/control-plane.ts';
import { type Bed, createBed, eventually, portOf, reach } from '../support/engine-bed.ts';

const noFile: Live<FileText> = {
  current: { text: undefined, path: '/etc/rossoctl/config.yaml' },
  subscribe: () => () => {},
};

const accessReviews: Kind = {
  apiVersion: 'authorization.k8s.io/v1',
  kind: 'SubjectAccessReview',
  plural: 'subjectaccessreviews',
  namespaced: false,
};

export interface OperatorOptions {
  readonly reversals?: ReversalLimits;
  readonly snags?: SnagLimits;
  /** Default: the administrator's certificate. */
  readonly token?: string;
}

/** One request of an operator, as the API server's audit log has it. */
export interface Request {
  readonly verb: string;
  readonly resource: string;
  readonly namespace: string;
  readonly name: string;
}

export async function startEnrolmentBed(name: string) {
  const plane = await startControlPlane({ name, withControllerManager: true, audit: true });
  const users = bedOf(plane, 'users');
  const { client } = users;
  await client.create(
    kinds.customResourceDefinition,
    crdManifest(crdSources[0] as (typeof crdSources)[number]) as unknown as KubeObject,
  );
  await eventually(() => client.list(kinds.agentRuntime));
  await client.create(kinds.namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: install.namespace } });
  const driver = { apiVersion: 'storage.k8s.io/v1', kind: 'CSIDriver', metadata: { name: 'csi.spiffe.io' }, spec: {} };
  await client.create(kinds.csiDriver, driver);
  let operators = 0;
  const running = new Set<{ stop(): Promise<void> }>();
  return {
    plane,
    client,
    /** Whether RBAC lets `user` do that. */
    reviewAccess: async (user: string, resourceAttributes: Readonly<Record<string, string>>): Promise<boolean> => {
      const review = {
        apiVersion: accessReviews.apiVersion,
        kind: accessReviews.kind,
        metadata: {},
        spec: { user, resourceAttributes },
      };
      const { status } = (await client.create(accessReviews, review)) as KubeObject & {
        readonly status: { readonly allowed: boolean };
      };
      return status.allowed;
    },
    startOperator: async (options: OperatorOptions = {}) => {
      operators += 1;
      const operator = await startOperator(bedOf(plane, `operator-${operators}`, options.token), plane, {
        ...options,
        agent: `operator-${operators}`,
      });
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

export type EnrolmentBed = Awaited<ReturnType<typeof startEnrolmentBed>>;
export type Operator = Awaited<ReturnType<EnrolmentBed['startOperator']>>;

function bedOf(plane: ControlPlane, userAgent: string, token?: string): Bed {
  return createBed(reach({ port: portOf(plane), certificatesDir: plane.certificatesDir, token }), { userAgent });
}

async function startOperator(bed: Bed, plane: ControlPlane, options: OperatorOptions & { readonly agent: string }) {
  const { client, clock, log, metrics } = bed;
  const cache = bed.newCache();
  const watches = configWatches(install.namespace);
  const events = createEvents({ client, clock, log, metrics, instance: options.agent });
  const manager = createManager({ client, cache, clock, log, metrics, events, onLost: () => {} });
  const controller = createAgentRuntimeController({
    layers: createLayerReader({ watches, operatorNamespace: install.namespace, configFile: noFile, gatesFile: noFile }),
    watches,
    files: {},
    metrics,
    needsEnabledNamespace: false,
    operatorNamespace: install.namespace,
    ...(options.reversals === undefined ? {} : { reversals: options.reversals }),
    ...(options.snags === undefined ? {} : { snags: options.snags }),
  });
  manager.addController(controller as unknown as Controller);
  await manager.start();
  let isStopped = false;
  return {
    log,
    metrics,
    events,
    wake: (key: { readonly namespace: string; readonly name: string }) => manager.wake('agentruntime', key),
    /** Writes of this operator, reads and watches left out; in one namespace, or in all. */
    writes: (namespace?: string): readonly Request[] => writesOf(plane, options.agent, namespace),
    stop: async () => {
      if (isStopped) return;
      isStopped = true;
      await manager.stop();
      await bed.close();
    },
  };
}

const writeVerbs: readonly string[] = ['create', 'update', 'patch', 'delete'];

interface AuditEvent {
  readonly stage: string;
  readonly verb: string;
  readonly userAgent?: string;
  readonly objectRef?: {
    readonly resource?: string;
    readonly subresource?: string;
    readonly namespace?: string;
    readonly name?: string;
  };
}

function writesOf(
  { auditLogPath = '' }: ControlPlane,
  agent: string,
  namespace: string | undefined,
): readonly Request[] {
  return readFileSync(auditLogPath, 'utf8')
    .split('\n')
    .filter((line) => line.endsWith('}') && line.includes(agent))
    .map((line) => JSON.parse(line) as AuditEvent)
    .filter(
      (event) => event.stage === 'ResponseComplete' && event.userAgent === agent && writeVerbs.includes(event.verb),
    )
    .map(({ verb, objectRef = {} }) => ({
      verb,
      resource: [objectRef.resource, objectRef.subresource].filter(Boolean).join('/'),
      namespace: objectRef.namespace ?? '',
      name: objectRef.name ?? '',
    }))
    .filter((request) => namespace === undefined || request.namespace === namespace);
}

/** What tests ask of one namespace. */
export async function inNamespace({ client }: EnrolmentBed, name: string) {
  await client.create(kinds.namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  const runtimeOf = (runtime = 'weather') => client.get(kinds.agentRuntime, { namespace: name, name: runtime });
  const ready = async (runtime = 'weather'): Promise<string> => {
    const { status } = await runtimeOf(runtime);
    const found = status?.conditions?.find(({ type }) => type === 'Ready');
    return `${status?.phase}/${found?.reason}`;
  };
  return {
    name,
    create: <T extends KubeObject>(kind: Kind<T>, object: T) => client.create(kind, object),
    runtimeOf,
    deploymentOf: (deployed = 'weather-agent') => client.get(kinds.deployment, { namespace: name, name: deployed }),
    /** Waits until the AgentRuntime says `phase/reason of Ready`. */
    says: (wanted: string, runtime?: string, withinMs?: number) =>
      eventually(async () => {
        const said = await ready(runtime);
        if (said !== wanted) throw new Error(`says ${said}, not ${wanted}`);
      }, withinMs),
    remove: (runtime = 'weather') => client.remove({ kind: kinds.agentRuntime, namespace: name, name: runtime }),
    isGone: (runtime = 'weather') =>
      eventually(async () => {
        const { items } = await client.list(kinds.agentRuntime, { namespace: name });
        return !items.some(({ metadata }) => metadata.name === runtime);
      }),
    pods: async () => (await client.list<Pod>(kinds.pod, { namespace: name })).items,
  };
}

/** Stands in for the kubelet: every pod of the namespace becomes Ready `startMs` after it was seen. */
export function startKubelet({ client }: EnrolmentBed, namespace: string, startMs = 0) {
  const ending = new AbortController();
  const makeReady = async (name: string): Promise<void> => {
    const at = new Date().toISOString().replace(/\.\d+/, '');
    const status = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: at }] };
    const body = { apiVersion: 'v1', kind: 'Pod', metadata: { namespace, name }, status };
    try {
      await client.apply({ kind: kinds.pod, body }, { fieldManager: 'kubelet', subresource: 'status' });
    } catch {
      // It went in the meantime.
    }
  };
  const done = (async () => {
    const seen = new Set<string>();
    while (!ending.signal.aborted) {
      const { items } = await client.list<Pod>(kinds.pod, { namespace });
      // By uid: a StatefulSet's pod comes back under its name.
      const fresh = items.filter(({ metadata: { uid = '' } }) => !seen.has(uid));
      for (const { metadata } of fresh) seen.add(metadata.uid ?? '');
      const start = () => Promise.all(fresh.map(({ metadata }) => makeReady(metadata.name ?? '')));
      if (startMs === 0) await start();
      else setTimeout(() => void start(), startMs);
      await sleep(40);
    }
  })();
  return {
    stop: async () => {
      ending.abort();
      await done;
    },
  };
}
