/** What tests do in one namespace: agents come and go, cards are read, labels are looked at. */

import assert from 'node:assert/strict';
import type { AgentCard } from '../../runtime/api/agent-card.ts';
import { kinds } from '../../runtime/api/kinds.ts';
import type { Pod } from '../../runtime/api/kubernetes.ts';
import { labels } from '../../runtime/api/names.ts';
import type { Kind, KubeObject } from '../../runtime/engine/types.ts';
import { eventually } from '../support/engine-bed.ts';
import { eventsOf } from '../support/events.ts';
import { type Behaviour, serves } from './agents.ts';
import { bundlePlace, type CardBed, makeNamespace } from './bed.ts';
import { agentCard, cardOf, kindOf, type Manifest, pod, replicaSet, service, type Shape, workload } from './objects.ts';

function isReadyPod(pod: KubeObject): boolean {
  return (pod as Pod).status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') === true;
}

let addresses = 0;

/** A namespace of the test's own. */
export async function inNamespace(bed: CardBed, namespace: string) {
  const { client, agents } = bed;
  await makeNamespace(client, namespace);
  const owners = new Map<string, KubeObject>();

  const addPod = async (name: string, podName = `${name}-1`, isReady = true): Promise<void> => {
    const owner = owners.get(name);
    assert.ok(owner, `no workload ${name}`);
    await client.create(kinds.pod, pod(owner, name, podName) as never);
    if (isReady) await makeReady(podName);
  };
  /** A pod of other labels that names the Deployment, or its ReplicaSet, as its controller. */
  const addImpostor = async (name: string, podName: string, of: 'Deployment' | 'ReplicaSet'): Promise<void> => {
    const deployment = await client.get(kinds.deployment as Kind, { namespace, name });
    const owner = of === 'Deployment' ? deployment : owners.get(name);
    assert.ok(owner, `no workload ${name}`);
    await client.create(kinds.pod, pod(owner, 'foreign', podName) as never);
    await makeReady(podName);
  };
  const makeReady = async (podName: string): Promise<void> => {
    addresses += 1;
    const at = new Date().toISOString().replace(/\.\d+/, '');
    const status = {
      phase: 'Running',
      podIP: `10.1.${addresses >> 8}.${addresses & 255}`,
      conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: at }],
    };
    const body = { apiVersion: 'v1', kind: 'Pod', metadata: { namespace, name: podName }, status } as Manifest;
    await client.apply({ kind: kinds.pod as Kind, body }, { fieldManager: 'kubelet', subresource: 'status' });
  };
  const addWorkload = async (name: string, shape: Shape = {}): Promise<void> => {
    const made = await client.create(kindOf[shape.kind ?? 'Deployment'], workload(namespace, name, shape));
    const isDeployment = made.kind === 'Deployment';
    owners.set(name, isDeployment ? await client.create(kinds.replicaSet as Kind, replicaSet(made)) : made);
  };
  /** A card that is seen before its agent would honestly be told to wait, in an event more. */
  const areKnown = (name: string, kind: keyof typeof kindOf): Promise<void> =>
    eventually(() => {
      const owner = owners.get(name)?.metadata.name ?? '';
      return (
        bed.isKnown(kindOf[kind], { namespace, name }) &&
        (kind !== 'Deployment' || bed.isKnown(kinds.replicaSet as Kind, { namespace, name: owner })) &&
        bed.isKnown(kinds.service as Kind, { namespace, name }) &&
        bed.isKnown(kinds.pod as Kind, { namespace, name: `${name}-1` }, isReadyPod)
      );
    });
  const hostOf = (name: string): string => `${name}.${namespace}.svc:8080`;
  const card = (name: string): Promise<AgentCard> => client.get(kinds.agentCard, { namespace, name });
  const condition = async (name: string, type: string): Promise<string> => {
    const found = (await card(name)).status?.conditions?.find((one) => one.type === type);
    return found === undefined ? 'absent' : `${found.status}/${found.reason}`;
  };
  const labelOf = async (kind: Kind, name: string) =>
    (await client.get(kind, { namespace, name })).metadata.labels?.[labels.signatureVerified];

  return {
    namespace,
    hostOf,
    addPod,
    addImpostor,
    makeReady,
    addWorkload,
    behave: (name: string, behaviour: Behaviour) => agents.behave(hostOf(name), behaviour),
    asked: (name: string) => agents.asked(hostOf(name)),
    addService: (name: string) => client.create(kinds.service as Kind, service(namespace, name)),
    addCard: (name: string, spec: Partial<AgentCard['spec']> = {}, object = name) =>
      client.create(kinds.agentCard, {
        ...agentCard(namespace, object, spec),
        spec: agentCard(namespace, name, spec).spec,
      }),
    /** Everything an agent is, with a card that names it. */
    addAgent: async (
      name: string,
      options: { readonly body?: string; readonly shape?: Shape; readonly spec?: Partial<AgentCard['spec']> } = {},
    ) => {
      agents.behave(hostOf(name), serves(options.body ?? JSON.stringify(cardOf(name))));
      await addWorkload(name, options.shape);
      await client.create(kinds.service as Kind, service(namespace, name));
      await addPod(name);
      await areKnown(name, options.shape?.kind ?? 'Deployment');
      const targetRef = { apiVersion: 'apps/v1', kind: options.shape?.kind ?? 'Deployment', name };
      await client.create(kinds.agentCard, agentCard(namespace, name, { targetRef, ...options.spec }));
    },
    card,
    condition,
    /** Waits until the condition is `status/reason`. */
    says: (name: string, type: string, wanted: string, withinMs?: number) =>
      eventually(async () => assert.equal(await condition(name, type), wanted), withinMs),
    patch: (kind: Kind, name: string, body: Readonly<Record<string, unknown>>) =>
      client.mergePatch({ kind, namespace, name }, body),
    remove: (kind: Kind, name: string) => client.remove({ kind, namespace, name }),
    isGone: (kind: Kind, name: string) =>
      eventually(async () => {
        const { items } = await client.list(kind, { namespace });
        return !items.some(({ metadata }) => metadata.name === name);
      }),
    /** The verified label on the Deployment and on its pods. */
    labels: async (name: string, pods: readonly string[] = [`${name}-1`], kind: Kind = kinds.deployment as Kind) =>
      Promise.all([labelOf(kind, name), ...pods.map((one) => labelOf(kinds.pod as Kind, one))]),
    /** Reasons of the events that were told by us. */
    events: async (name?: string) => (await eventsOf(client, namespace, name)).map(({ reason }) => reason).sort(),
  };
}

export type Space = Awaited<ReturnType<typeof inNamespace>>;

/** Writes the trust bundle; each call replaces all of its keys. */
export async function writeBundle({ client }: CardBed, data: Readonly<Record<string, string>>): Promise<void> {
  const { namespace, name } = bundlePlace;
  const { items } = await client.list(kinds.configMap, { namespace });
  const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace, name }, data };
  if (items.some(({ metadata }) => metadata.name === name)) await client.replace(kinds.configMap, body);
  else await client.create(kinds.configMap, body);
}

export async function removeBundle({ client }: CardBed): Promise<void> {
  await client.remove({ kind: kinds.configMap as Kind, ...bundlePlace });
}
