/** ReplicaSets and pods of enrolled workloads, as Kubernetes would have made them: what a big cluster holds, without its nodes. */

import { kinds } from '../../runtime/api/kinds.ts';
import type { Deployment } from '../../runtime/api/kubernetes.ts';
import { annotations, labels } from '../../runtime/api/names.ts';
import type { Client } from '../../runtime/engine/client.ts';
import type { KubeObject, ObjectKey, OwnerReference } from '../../runtime/engine/types.ts';
import { inParallel } from './api-objects.ts';
import { podOf } from './review.ts';

const writers = 16;

/** Pods need the account that a controller would make, which does not run here. */
export async function createAccounts(client: Client, namespaces: readonly string[]): Promise<void> {
  await inParallel(namespaces, writers, (namespace) =>
    client.create(kinds.serviceAccount, {
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { namespace, name: 'default' },
    }),
  );
}

/** One ReplicaSet for each, then `each` pods of it, never scheduled. Ends after `seconds`; returns how many pods there are. */
export async function createPods(
  client: Client,
  keys: readonly Required<ObjectKey>[],
  { each, seconds }: { readonly each: number; readonly seconds: number },
): Promise<number> {
  const end = performance.now() + seconds * 1000;
  let made = 0;
  await inParallel(keys, writers, async (key) => {
    const owner = await client.get(kinds.deployment, key);
    const replicaSet = await client.create(kinds.replicaSet, replicaSetFor(owner));
    const pod = injected(podOf(key, replicaSet), owner);
    for (let number = 0; number < each && performance.now() < end; number++) {
      await client.create(kinds.pod, pod);
      made += 1;
    }
  });
  return made;
}

function ownedBy({ apiVersion, kind, metadata: { name = '', uid = '' } }: KubeObject): OwnerReference {
  return { apiVersion, kind, name, uid, controller: true, blockOwnerDeletion: true };
}

function replicaSetFor(owner: Deployment): KubeObject {
  const { namespace, name = '' } = owner.metadata;
  const hash = '7d9f8c6b5';
  const own = { ...owner.spec.template.metadata?.labels, 'pod-template-hash': hash };
  const { template } = owner.spec;
  return {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: { namespace, name: `${name}-${hash}`, labels: own, ownerReferences: [ownedBy(owner)] },
    spec: {
      replicas: 0,
      selector: { matchLabels: { app: name, 'pod-template-hash': hash } },
      template: { ...template, metadata: { ...template.metadata, labels: own } },
    },
  } as KubeObject;
}

/** As the ReplicaSet would make it: the template's containers; and what the webhook would have added, as far as the operator reads it again. */
function injected<P extends KubeObject & { readonly spec: object }>(pod: P, owner: Deployment): P {
  const hash = owner.spec.template.metadata?.annotations?.[annotations.configHash] ?? '';
  const type = owner.spec.template.metadata?.labels?.[labels.type] ?? 'agent';
  const sidecar = { name: 'envoy-proxy', image: 'example.test/envoy-proxy:1', restartPolicy: 'Always' };
  return {
    ...pod,
    metadata: {
      ...pod.metadata,
      labels: { ...pod.metadata.labels, [labels.type]: type },
      annotations: { [annotations.injected]: 'envoy-proxy', [annotations.configHash]: hash },
    },
    spec: { ...pod.spec, containers: owner.spec.template.spec.containers, initContainers: [sidecar] },
  };
}
