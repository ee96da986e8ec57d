/** The objects of one agent as a cluster without controllers and kubelets has them: a Deployment, its ReplicaSet, pods, a Service. */

import type { AgentCard } from '../../runtime/api/agent-card.ts';
import { kinds } from '../../runtime/api/kinds.ts';
import { apiVersion } from '../../runtime/api/names.ts';
import type { Kind, KubeObject, OwnerReference } from '../../runtime/engine/types.ts';

type Labels = Readonly<Record<string, string>>;
/** With an index signature, so that it is a fragment too. */
export type Manifest = KubeObject & Readonly<Record<string, unknown>>;

export const agentLabels: Labels = { 'rossoctl.io/type': 'agent', 'protocol.rossoctl.io/a2a': '' };
const templateLabels = (name: string): Labels => ({ app: name, 'rossoctl.io/type': 'agent' });
const podSpec = (serviceAccount?: string) => ({
  containers: [{ name: 'agent', image: 'example.test/weather:1', ports: [{ containerPort: 8080 }] }],
  automountServiceAccountToken: false,
  ...(serviceAccount === undefined ? {} : { serviceAccountName: serviceAccount }),
});

export interface Shape {
  readonly kind?: 'Deployment' | 'StatefulSet' | 'DaemonSet';
  readonly labels?: Labels;
  readonly serviceAccount?: string;
}

export const kindOf = {
  Deployment: kinds.deployment as Kind,
  StatefulSet: kinds.statefulSet as Kind,
  DaemonSet: kinds.daemonSet as Kind,
} as const;

export function workload(namespace: string, name: string, shape: Shape = {}): Manifest {
  const { kind = 'Deployment', labels = agentLabels, serviceAccount } = shape;
  return {
    apiVersion: 'apps/v1',
    kind,
    metadata: { namespace, name, labels: { app: name, ...labels } },
    spec: {
      ...(kind === 'DaemonSet' ? {} : { replicas: 1 }),
      ...(kind === 'StatefulSet' ? { serviceName: name } : {}),
      selector: { matchLabels: { app: name } },
      template: { metadata: { labels: templateLabels(name) }, spec: podSpec(serviceAccount) },
    },
  };
}

export function replicaSet(deployment: KubeObject): Manifest {
  const { namespace, name = '' } = deployment.metadata;
  const labels = templateLabels(name);
  return {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: { namespace, name: `${name}-7d9f8c6b5`, labels, ownerReferences: [ownerOf(deployment)] },
    spec: {
      replicas: 1,
      selector: { matchLabels: { app: name } },
      template: { metadata: { labels }, spec: podSpec() },
    },
  };
}

export function pod(owner: KubeObject, app: string, name: string): Manifest {
  const { namespace } = owner.metadata;
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { namespace, name, labels: templateLabels(app), ownerReferences: [ownerOf(owner)] },
    spec: podSpec(),
  };
}

export function service(namespace: string, name: string): Manifest {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { namespace, name },
    spec: { selector: { app: name }, ports: [{ name: 'http', port: 8080 }] },
  };
}

export function agentCard(namespace: string, name: string, spec: Partial<AgentCard['spec']> = {}): AgentCard {
  const targetRef = { apiVersion: 'apps/v1', kind: 'Deployment', name };
  return {
    apiVersion,
    kind: 'AgentCard',
    metadata: { namespace, name },
    spec: { targetRef, syncPeriod: '5s', ...spec },
  };
}

/** What an agent of that name serves, unsigned. */
export function cardOf(name: string, more: object = {}) {
  return {
    name,
    description: `The agent ${name}`,
    version: '1.0.0',
    supportedInterfaces: [{ url: `http://${name}.test/`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
    capabilities: {},
    defaultInputModes: ['text/plain'],
    defaultOutputModes: ['text/plain'],
    skills: [],
    ...more,
  };
}

function ownerOf({ apiVersion: version, kind, metadata }: KubeObject): OwnerReference {
  return { apiVersion: version, kind, name: metadata.name ?? '', uid: metadata.uid ?? '', controller: true };
}
