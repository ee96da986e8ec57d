/** The effective configuration as lines for people: path, value and where it comes from. */

import type { Effective } from './layers.ts';

/** One line a leaf, sorted by path; credentials within URLs are masked. */
export function explainConfig(effective: Effective): readonly string[] {
  throw new Error(`not yet: ${effective.origins.size}`);
}
