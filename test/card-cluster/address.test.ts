/** Which pod and port a card is asked at, on a real API server: rollouts that are stuck, sidecars, labels of Kubernetes, replicas that hang. */

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Container } from '../../runtime/api/kubernetes.ts';
import { kinds } from '../../runtime/api/kinds.ts';
import type { Kind, KubeObject } from '../../runtime/engine/types.ts';
import { eventually } from '../support/engine-bed.ts';
import { hangs, serves } from './agents.ts';
import { type CardBed, startCardBed } from './bed.ts';
import { agentCard, cardOf, type Manifest, pod, replicaSet, service } from './objects.ts';
import { inNamespace } from './space.ts';

let bed: CardBed;
before(async () => {
  bed = await startCardBed('cards-address');
  await bed.startOperator({ verification: { isRequired: false }, timeoutMs: 1_000 });
});
after(() => bed.stop());

const deployments = kinds.deployment as Kind;
const hashLabel = 'pod-template-hash';

interface PodFacts {
  readonly ip: string;
  readonly ports?: Container['ports'];
  readonly sidecar?: Container['ports'];
  /** Of which ReplicaSet; also its label. Default `7d9f8c6b5`. */
  readonly hash?: string;
  readonly isReady?: boolean;
}

/** A namespace with the Deployment `weather`, and what its controller and a kubelet would do. */
async function weatherIn(namespace: string) {
  const ns = await inNamespace(bed, namespace);
  await ns.addWorkload('weather');
  const body = serves(JSON.stringify(cardOf('weather')));
  const setOf = (name: string) => bed.client.get(kinds.replicaSet as Kind, { namespace, name });
  return {
    ...ns,
    serveAt: (place: string, behaviour = body) => bed.agents.serveAt(place, behaviour),
    addSet: async (hash: string): Promise<void> => {
      const deployment = await bed.client.get(deployments, { namespace, name: 'weather' });
      const made = replicaSet(deployment);
      await bed.client.create(kinds.replicaSet as Kind, {
        ...made,
        metadata: { ...made.metadata, name: `weather-${hash}` },
      });
    },
    addPod: async (
      name: string,
      { ip, ports, sidecar, hash = '7d9f8c6b5', isReady = true }: PodFacts,
    ): Promise<void> => {
      const made = pod(await setOf(`weather-${hash}`), 'weather', name);
      const image = 'example.test/weather:1';
      const spec = {
        automountServiceAccountToken: false,
        containers: [{ name: 'agent', image, ...(ports && { ports }) }],
        ...(sidecar && { initContainers: [{ name: 'side', image, restartPolicy: 'Always', ports: sidecar }] }),
      };
      const metadata = { ...made.metadata, labels: { ...made.metadata.labels, [hashLabel]: hash } };
      await bed.client.create(kinds.pod as Kind, { ...made, metadata, spec } as KubeObject);
      if (!isReady) return;
      const status = { phase: 'Running', podIP: ip, conditions: [{ type: 'Ready', status: 'True' }] };
      const patch = { apiVersion: 'v1', kind: 'Pod', metadata: { namespace, name }, status } as Manifest;
      await bed.client.apply(
        { kind: kinds.pod as Kind, body: patch },
        { fieldManager: 'kubelet', subresource: 'status' },
      );
    },
    addService: (spec: object, name = 'weather') =>
      bed.client.create(kinds.service as Kind, { ...service(namespace, name), spec } as KubeObject),
    addCard: () => bed.client.create(kinds.agentCard, agentCard(namespace, 'weather')),
    synced: (wanted: string) => ns.says('weather', 'Synced', wanted),
    message: async () =>
      (await ns.card('weather')).status?.conditions?.find(({ type }) => type === 'Synced')?.message ?? '',
  };
}

const byName = { selector: { app: 'weather' }, ports: [{ name: 'http', port: 80, targetPort: 'cards' }] };

test('a rollout to another port that is stuck leaves the old pod asked at its own', async () => {
  const ns = await weatherIn('stuck');
  await ns.addService(byName);
  await ns.serveAt('10.9.1.1:8080');
  await ns.addPod('old', { ip: '10.9.1.1', ports: [{ name: 'cards', containerPort: 8080 }] });
  await ns.addCard();
  await ns.synced('True/CardSynced');
  const ports = [{ name: 'cards', containerPort: 8081 }];
  const containers = [{ name: 'agent', image: 'example.test/none:2', ports }];
  await bed.client.apply(
    {
      kind: deployments,
      body: {
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        metadata: { namespace: 'stuck', name: 'weather' },
        spec: { template: { spec: { containers } } },
      } as Manifest,
    },
    { fieldManager: 'users', force: true },
  );
  await ns.addSet('5c8b');
  await ns.addPod('young', { ip: '10.9.1.2', ports, hash: '5c8b', isReady: false });
  const before = bed.agents.asked('10.9.1.1:8080');
  await eventually(() => bed.agents.asked('10.9.1.1:8080') >= before + 2);
  assert.equal(await ns.condition('weather', 'Synced'), 'True/CardSynced');
  assert.match(await ns.message(), /\(Service weather, port http 80\)/);
  await ns.serveAt('10.9.1.3:8081', serves(JSON.stringify(cardOf('newer'))));
  await ns.addPod('younger', { ip: '10.9.1.3', ports, hash: '5c8b' });
  await eventually(async () => assert.equal((await ns.card('weather')).status?.agent?.name, 'newer'));
});

test('a Service leads to a native sidecar’s port by its name', async () => {
  const ns = await weatherIn('sidecar');
  await ns.addService(byName);
  await ns.serveAt('10.9.2.1:8123');
  await ns.addPod('one', { ip: '10.9.2.1', sidecar: [{ name: 'cards', containerPort: 8123 }] });
  await ns.addCard();
  await ns.synced('True/CardSynced');
});

test('a Service that selects by the label of a revision is found, also when it comes last', async () => {
  const ns = await weatherIn('revision');
  await ns.serveAt('10.9.3.1:8080');
  await ns.addPod('one', { ip: '10.9.3.1' });
  await ns.addCard();
  await ns.synced('False/ServiceNotFound');
  await ns.addService({ selector: { [hashLabel]: '7d9f8c6b5' }, ports: [{ name: 'a2a', port: 8080 }] }, 'stable');
  await ns.synced('True/CardSynced');
});

test('a replica that hangs does not make the agent fail, and a failure names the pod, address and port that were asked', async () => {
  const ns = await weatherIn('replicas');
  await ns.addService({ ...byName, ports: [{ name: 'http', port: 80, targetPort: 8080 }] });
  await ns.serveAt('10.9.4.1:8080', hangs);
  await ns.addPod('a', { ip: '10.9.4.1' });
  await ns.addCard();
  await ns.synced('False/Timeout');
  assert.match(
    await ns.message(),
    /^http:\/\/10\.9\.4\.1:8080\/\S+ \(pod a, Service weather, port http 80\) gave no complete answer within 1 s/,
  );
  await ns.serveAt('10.9.4.2:8080');
  await ns.addPod('b', { ip: '10.9.4.2' });
  await eventually(async () => assert.equal(await ns.condition('weather', 'Synced'), 'True/CardSynced'));
  const before = bed.agents.asked('10.9.4.1:8080');
  const answered = bed.agents.asked('10.9.4.2:8080');
  await eventually(() => bed.agents.asked('10.9.4.2:8080') >= answered + 2);
  assert.equal(bed.agents.asked('10.9.4.1:8080'), before, 'the one that answers is asked first');
});
