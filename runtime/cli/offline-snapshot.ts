/** What the webhook would gather, taken from the documents of the input instead of an API server. */

import type { AgentRuntime } from '../api/agent-runtime.ts';
import type { Pod } from '../api/kubernetes.ts';
import { podOwner, runtimeOf } from '../authbridge/gather.ts';
import { malformation } from '../authbridge/shape.ts';
import type { Snapshot } from '../authbridge/snapshot.ts';
import type { Layers } from '../config/layers.ts';
import { type FileText, layersOf } from '../config/layers-of.ts';
import type { AdmissionRequest } from '../engine/types.ts';
import { type Owner, ownerOf } from '../workload/owner.ts';
import type { ClusterState } from './cluster-state.ts';

/** The cluster the user asks about, beside its objects. */
export interface Setting {
  readonly operatorNamespace: string;
  readonly csiDriver: boolean;
  readonly nativeSidecars: boolean;
  readonly configFile?: FileText;
  readonly gatesFile?: FileText;
}

/** Answers like the cluster; what is asked twice is worked out once. */
export interface OfflineCluster {
  readonly state: ClusterState;
  layers(namespace: string): Layers;
  /** The AgentRuntime that targets a workload. */
  runtimeFor(owner: Owner, namespace: string): AgentRuntime | undefined;
  snapshot(request: PodRequest): Snapshot;
}

/** What of an admission request the decision depends on. */
export type PodRequest = Pick<AdmissionRequest<Pod>, 'operation' | 'namespace' | 'object'>;

/** A cluster made of documents. */
export function offlineCluster(state: ClusterState, setting: Setting): OfflineCluster {
  const { operatorNamespace, csiDriver, nativeSidecars, configFile, gatesFile } = setting;
  const files = { ...(configFile && { configFile }), ...(gatesFile && { gatesFile }) };
  const known = new Map<string, Layers>();

  function layers(namespace: string): Layers {
    const found =
      known.get(namespace) ?? layersOf({ operatorNamespace, namespace, configMaps: state.configMaps, ...files });
    known.set(namespace, found);
    return found;
  }

  function runtimeFor(owner: Owner, namespace: string): AgentRuntime | undefined {
    return runtimeOf(
      owner,
      state.agentRuntimes.filter(({ metadata }) => metadata.namespace === namespace),
    );
  }

  function snapshot({ operation, namespace, object: pod }: PodRequest): Snapshot {
    const owner: Owner =
      pod === undefined || malformation(pod) !== undefined
        ? { none: 'it is no pod' }
        : ownerOf(pod, (kind, name) => state.between.get(`${kind}/${namespace}/${name}`));
    return {
      operation,
      pod,
      namespace,
      namespaceLabels: state.namespaceLabels.get(namespace) ?? {},
      owner: podOwner(owner),
      runtime: runtimeFor(owner, namespace),
      layers: layers(namespace),
      csiDriver,
      nativeSidecars,
      operatorNamespace,
      isAddedAtAdmission: false,
    };
  }

  return { state, layers, runtimeFor, snapshot };
}
