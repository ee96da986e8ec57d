/** What the layers explicitly set → the hash that decides whether pods must be replaced. */

import type { Layers } from './layers.ts';

/** 64 hex characters. Equal for equal explicit settings that can change a pod of this type; compiled defaults and AgentRuntimes are not in it. */
export function configHash(layers: Layers, type: 'agent' | 'tool'): string {
  throw new Error(`not yet: ${layers.config.length} ${type}`);
}
