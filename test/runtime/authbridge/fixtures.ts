/** The objects the field reports speak of (P0, R0) and the snapshots the decision is tried on. */

import type { AgentRuntime, AgentRuntimeSpec } from '../../../runtime/api/agent-runtime.ts';
import type { Container, Pod, PodSpec } from '../../../runtime/api/kubernetes.ts';
import { judge } from '../../../runtime/authbridge/judge.ts';
import { createMemory } from '../../../runtime/authbridge/memory.ts';
import type { Judgement, Snapshot } from '../../../runtime/authbridge/snapshot.ts';
import type { FeatureGates } from '../../../runtime/config/feature-gates.ts';
import type { Layers } from '../../../runtime/config/layers.ts';
import type { PartialConfig } from '../../../runtime/config/platform.ts';

export const typeLabel = { 'rossoctl.io/type': 'agent' };

export interface PodParts {
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly spec?: Partial<PodSpec>;
  readonly container?: Partial<Container>;
}

/** P0: neither name nor namespace, one container on port 8080. */
export function p0({ labels, annotations, spec, container }: PodParts = {}): Pod {
  const replicaSet = {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    name: 'weather-agent-7d9f8c6b5',
    uid: '0f7c4c1e-1111-4222-8333-000000000001',
    controller: true,
    blockOwnerDeletion: true,
  };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      generateName: 'weather-agent-7d9f8c6b5-',
      labels: { app: 'weather-agent', 'pod-template-hash': '7d9f8c6b5', ...typeLabel, ...labels },
      ...(annotations === undefined ? {} : { annotations }),
      ownerReferences: [replicaSet],
    },
    spec: {
      containers: [{ name: 'agent', image: 'example.test/weather:1', ports: [{ containerPort: 8080 }], ...container }],
      ...spec,
    },
  };
}

/** R0, with what a test sets beside type and target. */
export function r0(spec: Partial<AgentRuntimeSpec> = {}, name = 'weather'): AgentRuntime {
  return {
    apiVersion: 'agent.rossoctl.dev/v1alpha1',
    kind: 'AgentRuntime',
    metadata: { name, namespace: 'team1', uid: `uid-${name}`, creationTimestamp: '2026-01-01T00:00:00Z' },
    spec: {
      type: 'agent',
      targetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'weather-agent' },
      ...spec,
    },
  };
}

export function layers(gates: Partial<FeatureGates> = {}, config: PartialConfig = {}): Layers {
  const where = (name: string) => ({ layer: 'platform' as const, where: `ConfigMap rossoctl-system/${name}` });
  return {
    config: [{ source: where('rossoctl-platform-config'), values: config }],
    gates: [{ source: where('rossoctl-feature-gates'), values: gates }],
    problems: [],
    warnings: [],
  };
}

export interface SnapshotParts extends Partial<Snapshot> {
  readonly gates?: Partial<FeatureGates>;
  readonly config?: PartialConfig;
}

/** P0 with R0 in a cluster that has everything. */
export function snapshot({ gates, config, ...parts }: SnapshotParts = {}): Snapshot {
  return {
    operation: 'CREATE',
    pod: p0(),
    namespace: 'team1',
    namespaceLabels: {},
    owner: { kind: 'Deployment', name: 'weather-agent' },
    runtime: r0(),
    layers: layers(gates, config),
    csiDriver: true,
    nativeSidecars: true,
    operatorNamespace: 'rossoctl-system',
    isAddedAtAdmission: false,
    ...parts,
  };
}

export function judged(parts: SnapshotParts = {}): Judgement {
  return judge(snapshot(parts), createMemory());
}

/** The pod after the verdict: mutated, or as it was. Fails the test when it was denied. */
export function injectedPod(parts: SnapshotParts = {}): Pod {
  const { verdict } = judged(parts);
  if (verdict.kind === 'deny') throw new Error(`denied: ${verdict.note}`);
  const pod = verdict.kind === 'mutate' ? verdict.object : (parts.pod ?? p0());
  return pod;
}

/** All containers, init containers first. */
export function allContainers({ spec }: Pod): readonly Container[] {
  return [...(spec.initContainers ?? []), ...spec.containers];
}

export function containerOf(pod: Pod, name: string): Container {
  const found = allContainers(pod).find((container) => container.name === name);
  if (found === undefined) throw new Error(`the pod has no container ${name}`);
  return found;
}

/** Literal environment by name; references as `ConfigMap/key`. */
export function envOf({ env }: Container): Readonly<Record<string, string>> {
  return Object.fromEntries(
    (env ?? []).map(({ name, value, valueFrom }) => [
      name,
      value ??
        `${valueFrom?.configMapKeyRef?.name ?? valueFrom?.fieldRef?.fieldPath}/${valueFrom?.configMapKeyRef?.key ?? ''}`,
    ]),
  );
}
