/** The effective configuration as lines for people: path, value and where it comes from. */

import type { Effective } from './layers.ts';
import { compiledIn, gatesSection } from './merge.ts';
import { leavesOf, type Section } from './overlay.ts';
import { masked } from './problem.ts';

/**
 * One line a leaf, sorted by path: `spiffe.trustDomain = "prod.example"  (namespace: ConfigMap team1/defaults, key config.yaml)`.
 * The configuration names Secrets and never holds their content; credentials that somebody wrote into a URL are masked.
 */
export function explainConfig(effective: Effective): readonly string[] {
  return [...leavesOf(effective.config as Section), ...leavesOf(effective.gates as Section, gatesSection)]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([path, value]) => {
      const { layer, where } = effective.origins.get(path) ?? compiledIn;
      const origin = layer === 'default' ? where : `${layer}: ${where}`;
      return `${path} = ${masked(JSON.stringify(value))}  (${origin})`;
    });
}
