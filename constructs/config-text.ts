/** Configuration values to the YAML text of a ConfigMap, refused at synthesis when the operator would refuse them at run time. */

import { Yaml } from 'cdk8s';
import { Construct } from 'constructs';
import { consistent } from '../runtime/config/consistent.ts';
import type { FeatureGates } from '../runtime/config/feature-gates.ts';
import type { LayerSource } from '../runtime/config/layers.ts';
import type { PartialConfig } from '../runtime/config/platform.ts';
import type { Violation } from '../runtime/config/violation.ts';
import { isProblem, parseConfig, parseGates } from '../runtime/config/sources.ts';
import { defined, refuse } from './refusal.ts';

/**
 * Text of `config.yaml`. Throws on what no YAML can say; what else is wrong becomes a validation error of `owner`, with the path of the
 * value. The platform's own must agree with the compiled defaults too; what a namespace's must agree with is known in the cluster alone.
 */
export function configText(owner: Construct, values: PartialConfig, source: LayerSource): string {
  const text = yamlOf(owner, values);
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
  const text = yamlOf(owner, values);
  owner.node.addValidation({
    validate: () => {
      const parsed = parseGates(text, source);
      return isProblem(parsed) ? [parsed.message] : [];
    },
  });
  return text;
}

/** Throws on what no YAML can say, with its path. */
function yamlOf(owner: Construct, values: object): string {
  refuse(owner, unwritable(values, '', []));
  return Yaml.stringify(defined(values));
}

function unwritable(value: unknown, path: string, above: readonly unknown[]): readonly Violation[] {
  const remedy = 'must be a value or a section of values';
  if (typeof value === 'function' || typeof value === 'symbol')
    return [{ path, message: `is a ${typeof value}; ${remedy}` }];
  if (Construct.isConstruct(value)) return [{ path, message: `is the construct ${value.node.path}; ${remedy}` }];
  if (above.includes(value)) return [{ path, message: `holds itself; ${remedy}` }];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, each]) =>
    unwritable(each, path === '' ? key : `${path}.${key}`, [...above, value]),
  );
}
