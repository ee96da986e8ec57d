/** The pod of the field reports and the review the API server makes of it, as large and as complete as a real one. */

import { kinds } from '../../runtime/api/kinds.ts';
import type { Pod } from '../../runtime/api/kubernetes.ts';
import { labels } from '../../runtime/api/names.ts';
import type { Client } from '../../runtime/engine/client.ts';
import type { KubeObject, ObjectKey, OwnerReference } from '../../runtime/engine/types.ts';
import { deployment } from './fleet.ts';

/** The ReplicaSet of a workload, which its controller has made. */
export async function replicaSetOf(client: Client, { namespace, name }: Required<ObjectKey>): Promise<KubeObject> {
  for (;;) {
    const { items } = await client.list(kinds.replicaSet, { namespace });
    const own = items.findLast(
      ({ metadata }) =>
        metadata.ownerReferences?.some((owner) => owner.name === name) === true &&
        metadata.labels?.[labels.type] !== undefined,
    );
    if (own !== undefined) return own;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** A pod as the ReplicaSet's controller sends it: no name of its own, the template's labels. `isLabelled`: whether ours is among them. */
export function podOf(key: Required<ObjectKey>, replicaSet: KubeObject | undefined, isLabelled = true): Pod {
  const { name, namespace } = key;
  const template = deployment(key).spec.template as { readonly metadata: object; readonly spec: Pod['spec'] };
  const hash = replicaSet?.metadata.labels?.['pod-template-hash'] ?? '7d9f8c6b5';
  const owner: OwnerReference = {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    name: replicaSet?.metadata.name ?? `${name}-${hash}`,
    uid: replicaSet?.metadata.uid ?? '0f7c4c1e-1111-4222-8333-000000000001',
    controller: true,
    blockOwnerDeletion: true,
  };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      namespace,
      generateName: `${owner.name}-`,
      labels: { app: name, 'pod-template-hash': hash, ...(isLabelled ? { [labels.type]: 'agent' } : {}) },
      ownerReferences: [owner],
    },
    spec: template.spec,
  };
}

/** The AdmissionReview of that pod: what the API server's defaults and its own plug-ins add is read from a dry run of an unlabelled one. */
export async function reviewOf(client: Client, key: Required<ObjectKey>, replicaSet: KubeObject | undefined) {
  const plain = podOf(key, replicaSet, false);
  const made = await client.create({ ...kinds.pod, plural: 'pods?dryRun=All' }, plain);
  const { uid: _, name: __, namespace: ___, creationTimestamp: ____, ...metadata } = made.metadata;
  const pod = {
    ...made,
    metadata: { ...metadata, creationTimestamp: null, labels: podOf(key, replicaSet).metadata.labels },
  };
  const kind = { group: '', version: 'v1', kind: 'Pod' };
  const resource = { group: '', version: 'v1', resource: 'pods' };
  const review = {
    kind: 'AdmissionReview',
    apiVersion: 'admission.k8s.io/v1',
    request: {
      uid: '705ab4f5-6393-11e8-b7cc-42010a800002',
      kind,
      resource,
      requestKind: kind,
      requestResource: resource,
      namespace: key.namespace,
      operation: 'CREATE',
      userInfo: {
        username: 'system:serviceaccount:kube-system:replicaset-controller',
        uid: '2d6d3f8a-51d1-4f0e-9b0a-5c2f8b1a7e11',
        groups: ['system:serviceaccounts', 'system:serviceaccounts:kube-system', 'system:authenticated'],
        extra: { 'authentication.kubernetes.io/credential-id': ['JTI=5d1c1b3e-0e5b-4f6e-8a9e-0a1b2c3d4e5f'] },
      },
      object: pod,
      oldObject: null,
      dryRun: false,
      options: { kind: 'CreateOptions', apiVersion: 'meta.k8s.io/v1' },
    },
  };
  return JSON.stringify(review);
}
