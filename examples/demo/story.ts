/** The main job, step by step, with real output: enrolment, refusals, a platform change, deletion. */

import type { App, Chart } from 'cdk8s';
import type { AgentRuntime } from '../../runtime/api/agent-runtime.ts';
import type { ConfigMap, Deployment, Pod } from '../../runtime/api/kubernetes.ts';
import { annotations, labels } from '../../runtime/api/names.ts';
import { agentsApp } from '../agents.ts';
import { type CallTelling, tellCalls } from './calls.ts';
import { type CardTelling, signBilling, tellCards } from './cards.ts';
import { type Cluster, until } from './cluster.ts';
import { type HeldSvid, tellIdentity, tellRotation } from './identity.ts';

export interface Telling extends CardTelling {
  readonly agentImage: string;
  /** Undefined: nobody calls, for there is nothing beside the cluster that its pods could reach. */
  readonly calls: CallTelling | undefined;
}

type Json = Readonly<Record<string, unknown>> & { readonly kind: string };

function objectsOf(app: App): readonly Json[] {
  return app.charts.flatMap((chart: Chart) => chart.toJson() as Json[]);
}

/** The kinds that are added to what a developer has anyway. */
const ours: ReadonlySet<string> = new Set(['AgentRuntime', 'AgentCard']);

const weather = ['deployment', 'weather', '-n', 'team1'] as const;

function described({ metadata, spec }: Deployment): string {
  const template = spec.template.metadata ?? {};
  return [
    `labels of the Deployment       ${JSON.stringify(metadata.labels ?? {})}`,
    `labels of its pod template     ${JSON.stringify(template.labels ?? {})}`,
    `annotations of the template    ${JSON.stringify(template.annotations ?? {})}`,
  ].join('\n');
}

function containersOf({ spec }: Pod): string {
  const line = (kind: string) => (container: { readonly name: string; readonly image?: string }) =>
    `${kind.padEnd(16)}${container.name.padEnd(16)}${container.image ?? ''}`;
  return [
    ...(spec.initContainers ?? []).map((each) =>
      line(each.restartPolicy === 'Always' ? 'native sidecar' : 'init container')(each),
    ),
    ...spec.containers.map(line('container')),
  ].join('\n');
}

async function podsOf(cluster: Cluster, namespace: string, name: string): Promise<readonly Pod[]> {
  const list = await cluster.get<{ readonly items: readonly Pod[] }>([
    'pods',
    '-n',
    namespace,
    '-l',
    `app.kubernetes.io/name=${name}`,
  ]);
  return list.items.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
}

async function configuredPods(cluster: Cluster, namespace: string, name: string): Promise<number> {
  const runtime = await cluster.get<AgentRuntime>(['agentruntime', name, '-n', namespace]);
  return runtime.status?.configuredPods ?? 0;
}

async function enrolment({ cluster, tell, agentImage }: Telling): Promise<Deployment> {
  const objects = objectsOf(agentsApp({ agent: agentImage }));
  tell.step('A developer deploys two agents composed with new Agent(…)  [examples/agents.ts]');
  // An earlier demo may have ended with them enrolled.
  for (const [name, team] of [
    ['weather', 'team1'],
    ['billing', 'team2'],
  ] as const) {
    await cluster.kubectl(['delete', 'agentruntime', name, '-n', team, '--ignore-not-found', '--timeout=60s']);
  }
  tell.say('First the ordinary workloads alone, as any cluster would run them.');
  tell.show(await cluster.apply(objects.filter(({ kind }) => !ours.has(kind))));
  await cluster.kubectl(['rollout', 'status', ...weather, '--timeout=60s']);
  const before = await cluster.get<Deployment>(weather);
  const [plain] = await podsOf(cluster, 'team1', 'weather');
  tell.show(described(before));
  if (plain !== undefined) tell.show(containersOf(plain));

  tell.step('The AgentRuntimes are created: labels appear, Kubernetes rolls the pods');
  tell.show(await cluster.apply(objects.filter(({ kind }) => ours.has(kind))));
  await until('the label on the pod template', async () => {
    const now = await cluster.get<Deployment>(weather);
    return now.spec.template.metadata?.labels?.[labels.type] === undefined ? undefined : now;
  });
  tell.show((await cluster.kubectl(['rollout', 'status', ...weather, '--timeout=90s'])).trim());
  tell.show(described(await cluster.get<Deployment>(weather)));
  await until('the status to count the pods', async () =>
    (await configuredPods(cluster, 'team1', 'weather')) > 0 ? true : undefined,
  );
  return before;
}

async function injectedPod({ cluster, tell }: Telling): Promise<void> {
  tell.step('The pod its owner wrote had one container; the webhook added the proxy and left the rest alone');
  const pod = (await podsOf(cluster, 'team1', 'weather')).find(
    ({ metadata }) => metadata.annotations?.[annotations.injected] !== undefined,
  );
  if (pod === undefined) throw new Error('no injected pod');
  tell.show(containersOf(pod));
  tell.show(await cluster.kubectl(['logs', '-n', 'team1', pod.metadata.name ?? '', '-c', 'envoy-proxy', '--tail=2']));
  tell.say('Status, as people and tools see it:');
  tell.show(await cluster.kubectl(['get', 'agentruntimes', '-A']));
  const { status } = await cluster.get<AgentRuntime>(['agentruntime', 'weather', '-n', 'team1']);
  tell.show(
    (status?.conditions ?? [])
      .map(({ type, status: value, reason, message }) => `${type.padEnd(16)} ${value.padEnd(6)} ${reason}: ${message}`)
      .join('\n'),
  );
}

async function refusals({ cluster, tell }: Telling): Promise<void> {
  tell.step('What is refused, and with what words');
  tell.say('Labelling a workload by hand:');
  tell.show(await cluster.refused(['label', 'deployment', 'coredns', '-n', 'kube-system', `${labels.type}=agent`]));
  tell.say('A second AgentRuntime for the same workload:');
  const second = {
    apiVersion: 'agent.rossoctl.dev/v1alpha1',
    kind: 'AgentRuntime',
    metadata: { name: 'weather-again', namespace: 'team1' },
    spec: { type: 'tool', targetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'weather' } },
  };
  tell.show(await cluster.refused(['create', '-f', '-'], JSON.stringify(second)));
  tell.say('A misspelt key in the namespace’s defaults: nothing running changes, and the status says where and what.');
  const defaults = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'defaults', namespace: 'team1', labels: { [labels.defaults]: 'true' } },
    data: { 'config.yaml': 'spiffe:\n  trustDomian: team1.example\n' },
  };
  await cluster.apply([defaults]);
  const message = await until('the status to report it', async () => {
    const runtime = await cluster.get<AgentRuntime>(['agentruntime', 'weather', '-n', 'team1']);
    const found = runtime.status?.conditions?.find(
      ({ type, status }) => type === 'ConfigResolved' && status === 'False',
    );
    return found === undefined ? undefined : `${found.reason}: ${found.message}`;
  });
  tell.show(message);
  await cluster.kubectl(['delete', 'configmap', 'defaults', '-n', 'team1']);
  await until('the status to recover', async () => {
    const runtime = await cluster.get<AgentRuntime>(['agentruntime', 'weather', '-n', 'team1']);
    return runtime.status?.phase === 'Active' ? true : undefined;
  });
}

async function hashOf(cluster: Cluster, namespace: string, name: string): Promise<string> {
  const { spec } = await cluster.get<Deployment>(['deployment', name, '-n', namespace]);
  return spec.template.metadata?.annotations?.[annotations.configHash] ?? '';
}

async function platformChange({ cluster, tell }: Telling): Promise<void> {
  tell.step('The platform team changes the trace endpoint; the other teams have their own, so only team1 rolls');
  const before = {
    weather: await hashOf(cluster, 'team1', 'weather'),
    billing: await hashOf(cluster, 'team2', 'billing'),
  };
  const config = await cluster.get<ConfigMap>(['configmap', 'rossoctl-platform-config', '-n', 'rossoctl-system']);
  const text = (config.data?.['config.yaml'] ?? '').replace(
    /^trace:\n/m,
    'trace:\n  endpoint: collector.monitoring:4317\n',
  );
  const { name, namespace, labels: owned } = config.metadata;
  const changed = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, namespace, labels: owned },
    data: { 'config.yaml': text },
  };
  await cluster.kubectl(['apply', '--server-side', '-f', '-'], JSON.stringify(changed));
  await until('the new hash', async () =>
    (await hashOf(cluster, 'team1', 'weather')) === before.weather ? undefined : true,
  );
  await cluster.kubectl(['rollout', 'status', ...weather, '--timeout=90s']);
  const after = {
    weather: await hashOf(cluster, 'team1', 'weather'),
    billing: await hashOf(cluster, 'team2', 'billing'),
  };
  const line = (name: keyof typeof before) =>
    `${name.padEnd(10)}${before[name].slice(0, 12)} → ${after[name].slice(0, 12)}  ${before[name] === after[name] ? 'untouched' : 'rolled'}`;
  tell.show([line('weather'), line('billing')].join('\n'));
  if (before.billing !== after.billing) throw new Error('billing was rolled without need');
}

async function deletion({ cluster, tell }: Telling, before: Deployment): Promise<void> {
  tell.step('Deleting the AgentRuntime leaves the Deployment as it was');
  tell.show(await cluster.kubectl(['delete', 'agentruntime', 'weather', '-n', 'team1', '--timeout=60s']));
  tell.show(await cluster.kubectl(['delete', 'agentcard', '-n', 'team1', '--all', '--timeout=60s']));
  const now = await cluster.get<Deployment>(weather);
  tell.show(described(now));
  const isSame =
    JSON.stringify([now.spec, now.metadata.labels]) === JSON.stringify([before.spec, before.metadata.labels]);
  if (!isSame)
    throw new Error(
      `the Deployment differs from what its owner wrote:\n${JSON.stringify(now.spec)}\n${JSON.stringify(before.spec)}`,
    );
  tell.say('Its spec and labels equal what its owner wrote, byte for byte; its next pods carry one container again:');
  await cluster.kubectl(['rollout', 'status', ...weather, '--timeout=90s']);
  const plain = await until('the plain pod', async () => {
    const pods = await podsOf(cluster, 'team1', 'weather');
    return pods.find(({ metadata }) => metadata.labels?.[labels.type] === undefined);
  });
  tell.show(containersOf(plain));
}

/** Tells the whole story on a cluster that has the platform. Throws when anything is not as told. */
export async function tellStory(telling: Telling): Promise<void> {
  const before = await enrolment(telling);
  await signBilling(telling);
  await injectedPod(telling);
  const { calls } = telling;
  let svid: HeldSvid | undefined;
  if (calls !== undefined) {
    await tellCalls(calls);
    svid = await tellIdentity(calls);
  }
  await refusals(telling);
  await tellCards(telling);
  await platformChange(telling);
  if (calls !== undefined && svid !== undefined) await tellRotation(calls, svid);
  await deletion(telling, before);
}
