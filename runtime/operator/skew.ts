/** Whether the manifests that installed this operator are of its own release. */

import { type Age, ageOf, release, releasePattern } from '../api/release.ts';
import type { Log, Metrics } from '../engine/types.ts';

/** `unknown`: the operator was not started by manifests, or by such as do not say their release. */
export interface Skew {
  readonly manifests: Age | 'unknown';
  /** What is apart and what to do; absent when nothing is. */
  readonly sentence?: string;
}

/** How `manifests`, the release of the constructs that made them, stands to the operator's own. */
export function skewOf(manifests: string, operator: string = release): Skew {
  if (!releasePattern.test(manifests)) return { manifests: 'unknown' };
  const age = ageOf(manifests, operator);
  if (age === 'same') return { manifests: age };
  const remedy =
    age === 'older' ? `apply the manifests of ${operator}, CRDs first` : `set the image to that of ${manifests}`;
  const sentence = `this operator is of release ${operator}, its manifests are of the ${age} ${manifests}: ${remedy} (docs/upgrade.md)`;
  return { manifests: age, sentence };
}

/** Says both releases in a metric, and in the log when they differ. */
export function tellSkew(manifests: string, { metrics, log }: { readonly metrics: Metrics; readonly log: Log }): void {
  const skew = skewOf(manifests);
  metrics
    .gauge<'version' | 'manifests' | 'manifests_age'>({
      name: 'rossoctl_build_info',
      help: 'Always 1: the release of this operator, that of the manifests that installed it, and whether those are older, same, newer or unknown.',
      labels: ['version', 'manifests', 'manifests_age'],
    })
    .set({ version: release, manifests, manifests_age: skew.manifests }, 1);
  if (skew.sentence === undefined) return;
  log.warn('manifests and operator are of different releases', { release, manifests, skew: skew.sentence });
}
