/** Builders of configuration values for the tests of this folder. */

import type { AgentRuntime } from '../../../runtime/api/agent-runtime.ts';
import type { ConfigMap } from '../../../runtime/api/kubernetes.ts';
import type { FeatureGates } from '../../../runtime/config/feature-gates.ts';
import type { Layer, LayerName, Layers, LayerSource } from '../../../runtime/config/layers.ts';
import type { PartialConfig } from '../../../runtime/config/platform.ts';

export const platformSource: LayerSource = {
  layer: 'platform',
  where: 'ConfigMap rossoctl-system/rossoctl-platform-config, key config.yaml',
};
export const namespaceSource: LayerSource = { layer: 'namespace', where: 'ConfigMap team1/defaults, key config.yaml' };

export function layer<V>(name: LayerName, values: V): Layer<V> {
  return { source: { layer: name, where: `the ${name} layer` }, values };
}

/** Layers with these configurations in ascending precedence, named `file`, `platform`, `namespace` from the last backwards. */
export function layers(configs: readonly PartialConfig[], gates: Partial<FeatureGates> = {}): Layers {
  const names: readonly LayerName[] = ['file', 'platform', 'namespace'];
  const first = names.length - configs.length;
  return {
    config: configs.map((values, i) => layer(names[first + i] ?? 'file', values)),
    gates: [layer('platform', gates)],
    problems: [],
    warnings: [],
  };
}

/** `R0` of the field reports, with more of `spec`. */
export function runtime(spec: Partial<AgentRuntime['spec']> = {}): AgentRuntime {
  return {
    apiVersion: 'agent.rossoctl.dev/v1alpha1',
    kind: 'AgentRuntime',
    metadata: { namespace: 'team1', name: 'weather' },
    spec: { type: 'agent', targetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'weather-agent' }, ...spec },
  };
}

export interface ConfigMapFacts {
  readonly namespace?: string;
  readonly name?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly data?: Readonly<Record<string, string>>;
}

/** `CM-cluster` of the field reports unless told otherwise. */
export function platformConfigMap(facts: ConfigMapFacts = {}): ConfigMap {
  const { data, ...metadata } = facts;
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { namespace: 'rossoctl-system', name: 'rossoctl-platform-config', ...metadata },
    ...(data === undefined ? {} : { data }),
  };
}

/** `CM-ns` of the field reports unless told otherwise. */
export function defaultsConfigMap(facts: ConfigMapFacts = {}): ConfigMap {
  const { metadata, ...rest } = platformConfigMap({ namespace: 'team1', name: 'defaults', ...facts });
  return { ...rest, metadata: { ...metadata, labels: { 'rossoctl.io/defaults': 'true' } } };
}
