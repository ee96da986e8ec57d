/** A lab of the tests' own whose network enforces policies, the network policy controller beside it, and pods that call each other. */

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { crdManifest, crdSources } from '../../constructs/crds.ts';
import type { AgentCard } from '../../runtime/api/agent-card.ts';
import { kinds } from '../../runtime/api/kinds.ts';
import type { Pod } from '../../runtime/api/kubernetes.ts';
import { apiVersion, fieldManagers, finalizer, install, labels, operatorPodLabels } from '../../runtime/api/names.ts';
import { configWatches, createLayerReader, type FileText } from '../../runtime/config/read.ts';
import { systemClock } from '../../runtime/engine/clock.ts';
import { kubeconfigConnection } from '../../runtime/engine/kubeconfig.ts';
import type { Controller, KubeObject, Live } from '../../runtime/engine/types.ts';
import { createNetworkPolicyController } from '../../runtime/network-policy/controller.ts';
import { withFarewell } from '../../runtime/network-policy/farewell.ts';
import { agentCards } from '../../runtime/workload/cards.ts';
import { createVerdicts } from '../../runtime/workload/verdicts.ts';
import { ensureBinaries, pathOf } from '../lab/build.ts';
import { down } from '../lab/down.ts';
import { labKubeconfigPath } from '../lab/locations.ts';
import { labImages } from '../lab/node/images.ts';
import { reportToStderr } from '../lab/progress.ts';
import { runCommand } from '../lab/run-command.ts';
import { up } from '../lab/up.ts';
import { createBed, createManagerOn, eventually } from '../support/engine-bed.ts';
import { createJudging } from '../support/judging.ts';

type StringMap = Readonly<Record<string, string>>;
type PodWithAddress = Pod & {
  readonly status?: {
    readonly podIP?: string;
    readonly containerStatuses?: readonly { readonly restartCount: number }[];
  };
};

/** Who calls and is called: `namespace/name`. */
export type Place = `${string}/${string}`;

const noFile: Live<FileText> = { current: { text: undefined, path: '/etc/x' }, subscribe: () => () => {} };

/** Serves its name on 8080, and repeats what it is sent on 9000, on connections that stay. */
const serving =
  'mkdir -p /tmp/w; hostname > /tmp/w/index.html; nc -ll -p 9000 -e cat & exec httpd -f -p 8080 -h /tmp/w';

const container = (command: string) => ({
  name: 'main',
  image: labImages.busybox,
  imagePullPolicy: 'Never',
  command: ['sh', '-c', command],
  ports: [{ containerPort: 8080 }],
  readinessProbe: { httpGet: { path: '/', port: 8080 }, periodSeconds: 1 },
});

/** An agent: a Deployment of one pod, its Service and its card; judged by nobody yet. */
const agents: readonly Place[] = ['team1/alpha', 'team2/beta', 'team1/gamma', 'team1/delta'];
/** What listens in a container as its first process does not end when asked to: it takes all of its time. */
const graceSeconds: Readonly<Record<Place, number>> = { 'team1/delta': 150 };
/** Pods of nobody's, and those that look like the operator's. */
const bystanders: readonly (readonly [at: Place, more: StringMap])[] = [
  [`${install.namespace}/operator`, operatorPodLabels],
  [`${install.namespace}/keycloak`, { app: 'keycloak' }],
  ['team2/impostor', operatorPodLabels],
  ['team1/plain', {}],
];

/** The finalizer of the card controller and nothing else of it: verdicts are the tests'. */
const holdingCards: Controller<AgentCard> = {
  name: 'agentcard',
  fieldManager: fieldManagers.agentCard,
  primary: agentCards,
  triggers: [],
  wakeOn: 'spec',
  finalizer,
  observe: () => Promise.resolve({}),
  decide: () => ({}),
};

export async function startEnforcementBed() {
  const name = `policies-${randomBytes(3).toString('hex')}`;
  const end = () => down(name);
  try {
    const [, binaries] = await Promise.all([
      up({ name, isControlPlaneOnly: false, context: undefined }, reportToStderr),
      ensureBinaries(['kubectl'], reportToStderr),
    ]);
    const kubectl = pathOf(binaries, 'kubectl');
    const connection = await kubeconfigConnection({ path: labKubeconfigPath(name) }, systemClock);
    const bed = createBed(connection);
    const { client } = bed;
    for (const source of crdSources) {
      await client.create(kinds.customResourceDefinition, crdManifest(source) as unknown as KubeObject);
    }
    await eventually(() => client.list(kinds.agentCard));
    for (const namespace of [install.namespace, 'team1', 'team2']) {
      await client.create(kinds.namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
    }
    await Promise.all([
      ...agents.map((at) => createAgent(client, at)),
      ...bystanders.map(([at, more]) => createPod(client, at, more)),
    ]);
    const watches = configWatches(install.namespace);
    const manager = createManagerOn(bed);
    const operatorNamespace = install.namespace;
    const layers = createLayerReader({ watches, operatorNamespace, configFile: noFile, gatesFile: noFile });
    const verdicts = createVerdicts();
    const controller = createNetworkPolicyController({
      layers,
      watches,
      files: {},
      metrics: bed.metrics,
      operatorNamespace,
      isAudit: false,
      verdicts,
    });
    manager.addController(controller as unknown as Controller);
    manager.addController(createJudging(verdicts) as unknown as Controller);
    manager.addController(withFarewell(holdingCards, { layers, operatorNamespace }) as unknown as Controller);
    await manager.start();

    const podAt = async (at: Place): Promise<PodWithAddress> => {
      const { namespace, name: app } = placeOf(at);
      const { items } = await client.list<PodWithAddress>(kinds.pod, { namespace, labels: `app=${app}` });
      const [pod] = items.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
      if (pod?.status?.podIP === undefined) throw new Error(`${at} has no pod with an address`);
      return pod;
    };
    const exec = async (at: Place, command: string): Promise<string> => execIn(await podAt(at), command);
    const execIn = ({ metadata: { namespace, name: pod = '' } }: Pod, command: string): Promise<string> => {
      const parameters = [
        `--kubeconfig=${labKubeconfigPath(name)}`,
        '-n',
        namespace ?? '',
        'exec',
        pod,
        '--',
        'sh',
        '-c',
        command,
      ];
      return runCommand(kubectl, parameters, { timeoutMs: 120_000 });
    };
    const addressOf = async (at: Place): Promise<string> => (await podAt(at)).status?.podIP ?? '';
    /** One connection: what came back, or nothing within two seconds. */
    const calls = async (from: Place, to: Place): Promise<boolean> => callsFrom(await podAt(from), to);
    const callsFrom = async (pod: Pod, to: Place): Promise<boolean> => {
      const answer = await execIn(pod, `timeout 2 wget -qO- http://${await addressOf(to)}:8080/ || echo none`);
      return answer.trim() !== 'none';
    };
    await eventually(async () => {
      for (const at of [...agents, ...bystanders.map(([place]) => place)]) {
        const { status } = await podAt(at);
        assert.ok(
          status?.conditions?.some(({ type, status: value }) => type === 'Ready' && value === 'True'),
          at,
        );
      }
    }, 120_000);
    return {
      client,
      exec,
      podAt,
      addressOf,
      calls,
      callsFrom,
      execIn,
      /** The verdict as the card controller writes it, and the label as it sets it on the agent's pods. */
      judge: async (at: Place, isVerified: boolean) => {
        const { namespace, name: card } = placeOf(at);
        const { metadata } = await client.get(kinds.agentCard, { namespace, name: card });
        const verified = {
          type: 'Verified',
          status: isVerified ? 'True' : 'False',
          reason: isVerified ? 'SignatureVerified' : 'SignatureInvalid',
          message: 'Said so.',
          lastTransitionTime: '2026-01-01T00:00:00Z',
          observedGeneration: metadata.generation,
        };
        const body = {
          apiVersion,
          kind: 'AgentCard',
          metadata: { namespace, name: card },
          status: { conditions: [verified] },
        };
        const pod = await podAt(at);
        const label = { metadata: { labels: { [labels.signatureVerified]: isVerified ? 'true' : null } } };
        await client.mergePatch({ kind: kinds.pod, namespace, name: pod.metadata.name ?? '' }, label);
        await client.apply(
          { kind: kinds.agentCard, body },
          { fieldManager: 'rossoctl-agent-card', subresource: 'status' },
        );
      },
      stop: async () => {
        await manager.stop();
        await bed.close();
        await end();
      },
    };
  } catch (error) {
    await end();
    throw error;
  }
}

export type EnforcementBed = Awaited<ReturnType<typeof startEnforcementBed>>;

function placeOf(at: Place): { readonly namespace: string; readonly name: string } {
  const [namespace = '', name = ''] = at.split('/');
  return { namespace, name };
}

type Client = ReturnType<typeof createBed>['client'];

async function createAgent(client: Client, at: Place): Promise<void> {
  const { namespace, name } = placeOf(at);
  const own = { app: name };
  const template = {
    metadata: { labels: { ...own, [labels.type]: 'agent' } },
    spec: { terminationGracePeriodSeconds: graceSeconds[at] ?? 0, containers: [container(serving)] },
  };
  const spec = { replicas: 1, selector: { matchLabels: own }, template };
  const { metadata } = await client.create<KubeObject>(
    kinds.deployment as never,
    {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { namespace, name },
      spec,
    } as KubeObject,
  );
  await client.create(kinds.service, {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { namespace, name },
    spec: { selector: own, ports: [{ port: 80, targetPort: 8080 }] },
  });
  const targetRef = { apiVersion: 'apps/v1', kind: 'Deployment', name };
  await client.create(kinds.agentCard, {
    apiVersion,
    kind: 'AgentCard',
    metadata: { namespace, name, ownerReferences: [{ ...targetRef, uid: metadata.uid ?? '' }] },
    spec: { targetRef },
  });
}

async function createPod(client: Client, at: Place, more: StringMap): Promise<void> {
  const { namespace, name } = placeOf(at);
  await client.create<KubeObject>(
    kinds.pod as never,
    {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { namespace, name, labels: { app: name, ...more } },
      spec: { terminationGracePeriodSeconds: 0, containers: [container(serving)] },
    } as KubeObject,
  );
}
