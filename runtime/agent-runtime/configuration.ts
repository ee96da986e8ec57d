/** Layers and an AgentRuntime → the configuration they make, with what is the same for a whole namespace computed once. */

import type { AgentRuntime } from '../api/agent-runtime.ts';
import { configHash } from '../config/config-hash.ts';
import type { Effective, Layers } from '../config/layers.ts';
import { mergeLayers } from '../config/merge.ts';
import { agentRuntimeOver, isProblem } from '../config/sources.ts';
import type { Configuration } from './observed.ts';

type AgentType = AgentRuntime['spec']['type'];

/**
 * A function that remembers by the identity of `layers`: their reader gives the same value until something changes.
 * An AgentRuntime that is no valid layer is a broken layer like any other; nothing is merged then.
 */
export function createConfigurations(): (layers: Layers, runtime: AgentRuntime) => Configuration {
  const shared = new WeakMap<Layers, Effective>();
  const hashes = new WeakMap<Layers, Map<AgentType, string>>();

  const sharedOf = (layers: Layers): Effective => {
    const effective = shared.get(layers) ?? mergeLayers(layers);
    shared.set(layers, effective);
    return effective;
  };
  const hashOf = (layers: Layers, type: AgentType): string => {
    const known = hashes.get(layers) ?? new Map<AgentType, string>();
    hashes.set(layers, known);
    const hash = known.get(type) ?? configHash(layers, type);
    known.set(type, hash);
    return hash;
  };

  return (layers, runtime) => {
    const own = agentRuntimeOver(layers, runtime);
    const problems = [...layers.problems, ...(isProblem(own) ? [own] : [])];
    if (problems.length > 0 || isProblem(own)) return { kind: 'broken', problems };
    const setsNothing = Object.keys(own.values).length === 0;
    return {
      kind: 'usable',
      hash: hashOf(layers, runtime.spec.type),
      warnings: layers.warnings,
      shared: sharedOf(layers),
      effective: setsNothing ? sharedOf(layers) : mergeLayers(layers, runtime),
    };
  };
}
