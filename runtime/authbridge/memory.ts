/** Remembers what was merged and hashed for the same layers and the same AgentRuntime, so that an admission repeats neither. */

import type { AgentRuntime } from '../api/agent-runtime.ts';
import { configHash } from '../config/config-hash.ts';
import type { Effective, LayerProblem, Layers } from '../config/layers.ts';
import { mergeLayers } from '../config/merge.ts';
import { agentRuntimeOver, isProblem } from '../config/sources.ts';

/** By identity of the values, which never change: what the cache holds is replaced, not edited. */
export interface Memory {
  /** The merged configuration, or why the AgentRuntime cannot be merged. */
  effective(layers: Layers, runtime: AgentRuntime): Effective | LayerProblem;
  hash(layers: Layers, type: 'agent' | 'tool'): string;
}

/** An empty memory. Entries go when their layers do. */
export function createMemory(): Memory {
  const merged = new WeakMap<Layers, WeakMap<AgentRuntime, Effective | LayerProblem>>();
  const hashes = new WeakMap<Layers, Map<string, string>>();
  return {
    effective: (layers, runtime) => {
      const ofLayers = remembered(merged, layers, () => new WeakMap<AgentRuntime, Effective | LayerProblem>());
      return remembered(ofLayers, runtime, () => merge(layers, runtime));
    },
    hash: (layers, type) => {
      const ofLayers = remembered(hashes, layers, () => new Map<string, string>());
      return remembered(ofLayers, type, () => configHash(layers, type));
    },
  };
}

function merge(layers: Layers, runtime: AgentRuntime): Effective | LayerProblem {
  const layer = agentRuntimeOver(layers, runtime);
  return isProblem(layer) ? layer : mergeLayers(layers, runtime);
}

function remembered<K, V>(
  store: { get(key: K): V | undefined; set(key: K, value: V): unknown },
  key: K,
  compute: () => V,
): V {
  const known = store.get(key);
  if (known !== undefined) return known;
  const value = compute();
  store.set(key, value);
  return value;
}
