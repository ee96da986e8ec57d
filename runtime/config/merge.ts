/** Ordered layers → the effective configuration with the origin of each leaf. */

import type { AgentRuntime } from '../api/agent-runtime.ts';
import type { Effective, Layers } from './layers.ts';

/**
 * Merges leaf by leaf, later wins: compiled defaults → layers → the AgentRuntime. Lists are replaced whole, string maps key by key.
 * Frozen. Throws when the AgentRuntime is invalid: ask `agentRuntimeLayer` first and deny or report its problem.
 */
export function mergeLayers(layers: Layers, runtime?: AgentRuntime): Effective {
  throw new Error(`not yet: ${layers.config.length} ${runtime?.kind}`);
}
