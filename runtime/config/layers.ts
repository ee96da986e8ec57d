/** A configuration layer: where values come from, what they explicitly set, or why they cannot be read. */

import type { FeatureGates } from './feature-gates.ts';
import type { PartialConfig, PlatformConfig } from './platform.ts';

/** Layers in ascending precedence. `file` and `gates-file` are what is mounted into the operator. */
export type LayerName = 'default' | 'file' | 'platform' | 'namespace' | 'agent-runtime';

/** Where a layer stands, for people: `ConfigMap team1/defaults, key config.yaml`. */
export interface LayerSource {
  readonly layer: LayerName;
  readonly where: string;
}

/** A layer that was read: possibly one that sets nothing, never one that failed. */
export interface Layer<V> {
  readonly source: LayerSource;
  readonly values: V;
}

/** Why a layer cannot be used. One sentence naming object, key, line, path and remedy is `message`. */
export interface LayerProblem {
  readonly source: LayerSource;
  readonly kind: 'invalid' | 'unavailable';
  readonly path?: string;
  readonly line?: number;
  readonly message: string;
}

/** What all layers but the AgentRuntime say for one namespace. */
export interface Layers {
  /** Ascending precedence; compiled defaults are not among them. */
  readonly config: readonly Layer<PartialConfig>[];
  readonly gates: readonly Layer<Partial<FeatureGates>>[];
  readonly problems: readonly LayerProblem[];
  /** Ambiguities that do not stop anything, for example two namespace-defaults ConfigMaps. */
  readonly warnings: readonly string[];
}

/** The merged configuration with the origin of each leaf by its dotted path (`spiffe.trustDomain`). */
export interface Effective {
  readonly config: PlatformConfig;
  readonly gates: FeatureGates;
  readonly origins: ReadonlyMap<string, LayerSource>;
}
