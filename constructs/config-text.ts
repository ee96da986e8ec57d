/** Configuration values to the YAML text of a ConfigMap, refused at synthesis when the operator would refuse them at run time. */

import { Yaml } from 'cdk8s';
import type { Construct } from 'constructs';
import type { FeatureGates } from '../runtime/config/feature-gates.ts';
import type { LayerSource } from '../runtime/config/layers.ts';
import type { PartialConfig } from '../runtime/config/platform.ts';
import { isProblem, parseConfig, parseGates } from '../runtime/config/sources.ts';

/** Text of `config.yaml`. What is wrong with it becomes a validation error of `owner`, with the path of the value. */
export function configText(owner: Construct, values: PartialConfig, source: LayerSource): string {
  const text = Yaml.stringify(values);
  owner.node.addValidation({ validate: () => problemsOf(parseConfig(text, source)) });
  return text;
}

/** Text of `feature-gates.yaml`, checked the same way. */
export function gatesText(owner: Construct, values: Partial<FeatureGates>, source: LayerSource): string {
  const text = Yaml.stringify(values);
  owner.node.addValidation({ validate: () => problemsOf(parseGates(text, source)) });
  return text;
}

function problemsOf(result: ReturnType<typeof parseConfig> | ReturnType<typeof parseGates>): string[] {
  return isProblem<unknown>(result) ? [result.message] : [];
}
