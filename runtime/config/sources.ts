/** Text of a configuration source, or an AgentRuntime → the layer it is, or why it cannot be used. */

import type { AgentRuntime } from '../api/agent-runtime.ts';
import type { FeatureGates } from './feature-gates.ts';
import type { Layer, LayerProblem, LayerSource } from './layers.ts';
import type { PartialConfig } from './platform.ts';

/** Parses `config.yaml`. In the `namespace` layer what is the platform's alone is refused. Never throws. */
export function parseConfig(text: string, source: LayerSource): Layer<PartialConfig> | LayerProblem {
  throw new Error(`not yet: ${text} ${source.where}`);
}

/** Parses `feature-gates.yaml`. Never throws. */
export function parseGates(text: string, source: LayerSource): Layer<Partial<FeatureGates>> | LayerProblem {
  throw new Error(`not yet: ${text} ${source.where}`);
}

/** True for a layer that cannot be used. */
export function isProblem<V>(result: Layer<V> | LayerProblem): result is LayerProblem {
  return 'message' in result;
}

/** The configuration an AgentRuntime sets. An invalid one (schema bypassed) yields a problem, never an exception. */
export function agentRuntimeLayer(runtime: AgentRuntime): Layer<PartialConfig> | LayerProblem {
  throw new Error(`not yet: ${runtime.kind}`);
}
