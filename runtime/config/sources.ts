/** Text of a configuration source → the layer it is, or why it cannot be used. */

import type { TSchema } from 'typebox';
import { configMaps } from '../api/names.ts';
import { violationsOf } from './check.ts';
import { FeatureGates } from './feature-gates.ts';
import { frozen } from './frozen.ts';
import type { Layer, LayerProblem, LayerSource } from './layers.ts';
import { isSection } from './overlay.ts';
import { peerViolations } from './peers.ts';
import { type PartialConfig, PlatformConfig, platformOnly } from './platform.ts';
import { podViolations } from './pod-texts.ts';
import { trafficViolations } from './traffic-texts.ts';
import { problemOf } from './problem.ts';
import type { Violation } from './violation.ts';
import { readYaml } from './yaml-tree.ts';

export { agentRuntimeOver } from './consistent.ts';

/** Parses `config.yaml`. In the `namespace` layer what is the platform's alone is refused with its path. Never throws. */
export function parseConfig(text: string, source: LayerSource): Layer<PartialConfig> | LayerProblem {
  return parse<PartialConfig>(text, source, PlatformConfig, (value) => [
    ...misplacedGates(value, source),
    ...(source.layer === 'namespace' ? platformsAlone(value) : []),
  ]);
}

/** Parses `feature-gates.yaml`. `"false"` in quotes is refused, not true. Never throws. */
export function parseGates(text: string, source: LayerSource): Layer<Partial<FeatureGates>> | LayerProblem {
  return parse<Partial<FeatureGates>>(text, source, FeatureGates, misplacedConfig);
}

/** True for a layer that cannot be used. */
export function isProblem<V>(result: Layer<V> | LayerProblem): result is LayerProblem {
  return 'message' in result;
}

/** `reserved` explains keys that exist but not here; what the schema would say of the same path is then left out. */
function parse<V>(
  text: string,
  source: LayerSource,
  schema: TSchema,
  reserved: (value: unknown) => readonly Violation[],
): Layer<V> | LayerProblem {
  const tree = readYaml(text);
  if (!('lineOf' in tree)) return problemOf(source, tree);
  const value = tree.value ?? {};
  const explained = reserved(value);
  const found = violationsOf(schema, value).filter(
    ({ path }) => !explained.some((known) => path === known.path || path.startsWith(`${known.path}.`)),
  );
  // What the schema refuses already is not explained a second time.
  const more = found.length > 0 ? [] : [...peerViolations(value), ...podViolations(value), ...trafficViolations(value)];
  const violations = [...explained, ...found, ...more].map((violation) => ({
    ...violation,
    line: tree.lineOf(violation.path),
  }));
  return violations.length > 0 ? problemOf(source, violations) : frozen({ source, values: value as V });
}

function misplacedGates(value: unknown, source: LayerSource): readonly Violation[] {
  if (!isSection(value)) return [];
  const gates = ['featureGates', ...Object.keys(FeatureGates.properties)].filter(
    // `clientRegistration` is also a section of the configuration: only its value tells.
    (key) => Object.hasOwn(value, key) && !(key in PlatformConfig.properties && isSection(value[key])),
  );
  const { name, key } = configMaps.gates;
  const message =
    source.layer === 'namespace'
      ? `feature gates are the platform's alone; a namespace cannot set them`
      : `feature gates belong in key ${key} of ConfigMap ${name}`;
  return gates.map((path) => ({ path, message }));
}

function misplacedConfig(value: unknown): readonly Violation[] {
  if (!isSection(value)) return [];
  const { name, key } = configMaps.platform;
  return Object.keys(PlatformConfig.properties)
    .filter(
      (section) => Object.hasOwn(value, section) && !(section in FeatureGates.properties && !isSection(value[section])),
    )
    .map((path) => ({ path, message: `is no feature gate; it belongs in key ${key} of ConfigMap ${name}` }));
}

/** See `platformOnly`. */
function platformsAlone(value: unknown): readonly Violation[] {
  return platformOnly
    .filter((path) => hasPath(value, path.split('.')))
    .map((path) => ({
      path,
      message: `is the platform's alone; a namespace cannot set it (ConfigMap ${configMaps.platform.name} can)`,
    }));
}

function hasPath(value: unknown, [step, ...rest]: readonly string[]): boolean {
  if (step === undefined) return true;
  return isSection(value) && Object.hasOwn(value, step) && hasPath(value[step], rest);
}
