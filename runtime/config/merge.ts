/** Ordered layers → the effective configuration with the origin of each leaf. */

import type { AgentRuntime } from '../api/agent-runtime.ts';
import { agentRuntimeLayer } from './agent-runtime-layer.ts';
import { type FeatureGates, gateDefaults } from './feature-gates.ts';
import { frozen } from './frozen.ts';
import type { Effective, Layer, Layers, LayerSource } from './layers.ts';
import { leavesOf, overlaid, type Section } from './overlay.ts';
import { compiledDefaults, type PartialConfig, type PlatformConfig } from './platform.ts';

/** Where a value stands that no layer sets. */
export const compiledIn: LayerSource = Object.freeze({ layer: 'default', where: 'compiled default' });

/** Gates stand among the origins under this section, so that they cannot collide with a configuration path. */
export const gatesSection = 'featureGates';

/**
 * Merges leaf by leaf, later wins: compiled defaults → `layers.config` in their order → the AgentRuntime. Lists are replaced whole, string
 * maps key by key. Origins by dotted path; those of gates as `featureGates.<name>`. Deeply frozen and a function of its arguments
 * alone, so a caller may remember results by identity. Throws on an invalid AgentRuntime (doubt denies): ask `agentRuntimeLayer` first
 * to report its problem. `layers.problems` is the caller's to judge: their values are not here.
 */
export function mergeLayers(layers: Layers, runtime?: AgentRuntime): Effective {
  const config = runtime === undefined ? layers.config : [...layers.config, layerOrThrow(runtime)];
  const origins = new Map(defaultOrigins);
  const merged = merge(compiledDefaults as Section, config, '', origins);
  const gates = merge(gateDefaults as Section, layers.gates, `${gatesSection}.`, origins);
  return Object.freeze({
    config: frozen(merged) as PlatformConfig,
    gates: frozen(gates) as FeatureGates,
    origins,
  });
}

const defaultOrigins: readonly (readonly [path: string, source: LayerSource])[] = [
  ...leavesOf(compiledDefaults as Section),
  ...leavesOf(gateDefaults as Section, gatesSection),
].map(([path]) => [path, compiledIn]);

/** Lays the layers over `base` and notes in `origins` who set each leaf last. */
function merge(base: Section, layers: readonly Layer<object>[], prefix: string, origins: Map<string, LayerSource>) {
  return layers.reduce((below, { values, source }) => {
    for (const [path] of leavesOf(values as Section)) origins.set(prefix + path, source);
    return overlaid(below, values as Section);
  }, base);
}

function layerOrThrow(runtime: AgentRuntime): Layer<PartialConfig> {
  const layer = agentRuntimeLayer(runtime);
  if ('message' in layer) throw new Error(layer.message);
  return layer;
}
