/** Configuration values to the YAML text of a ConfigMap, refused at synthesis when the operator would refuse them at run time. */

import { Yaml } from 'cdk8s';
import type { Construct } from 'constructs';
import { consistent } from '../runtime/config/consistent.ts';
import type { FeatureGates } from '../runtime/config/feature-gates.ts';
import type { LayerSource } from '../runtime/config/layers.ts';
import type { PartialConfig } from '../runtime/config/platform.ts';
import { isProblem, parseConfig, parseGates } from '../runtime/config/sources.ts';

/**
 * Text of `config.yaml`. What is wrong with it becomes a validation error of `owner`, with the path of the value. The platform's own
 * must agree with the compiled defaults too; what a namespace's must agree with is known in the cluster alone.
 */
export function configText(owner: Construct, values: PartialConfig, source: LayerSource): string {
  const text = Yaml.stringify(values);
  owner.node.addValidation({ validate: () => configProblems(text, source) });
  return text;
}

function configProblems(text: string, source: LayerSource): string[] {
  const parsed = parseConfig(text, source);
  if (isProblem(parsed)) return [parsed.message];
  return source.layer === 'platform' ? consistent([parsed]).problems.map(({ message }) => message) : [];
}

/** Text of `feature-gates.yaml`, checked the same way. */
export function gatesText(owner: Construct, values: Partial<FeatureGates>, source: LayerSource): string {
  const text = Yaml.stringify(values);
  owner.node.addValidation({
    validate: () => {
      const parsed = parseGates(text, source);
      return isProblem(parsed) ? [parsed.message] : [];
    },
  });
  return text;
}
