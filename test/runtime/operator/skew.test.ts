/** Manifests and operator of different releases: said once, with both and what to do. */

import assert from 'node:assert/strict';
import test from 'node:test';
import { release } from '../../../runtime/api/release.ts';
import { createMetrics } from '../../../runtime/engine/metrics.ts';
import { skewOf, tellSkew } from '../../../runtime/operator/skew.ts';
import { memoryLog } from '../../support/engine-bed.ts';

const cases: readonly (readonly [manifests: string, age: string, sentence: RegExp | undefined])[] = [
  ['0.2.0', 'same', undefined],
  [
    '0.1.9',
    'older',
    /operator is of release 0\.2\.0, its manifests are of the older 0\.1\.9: apply the manifests of 0\.2\.0, CRDs first/,
  ],
  [
    '0.3.0',
    'newer',
    /operator is of release 0\.2\.0, its manifests are of the newer 0\.3\.0: set the image to that of 0\.3\.0/,
  ],
  ['', 'unknown', undefined],
];
for (const [manifests, age, sentence] of cases) {
  test(`UP-03 manifests of ${manifests || 'no release'} beside an operator of 0.2.0 are ${age}`, () => {
    const skew = skewOf(manifests, '0.2.0');
    assert.equal(skew.manifests, age);
    if (sentence === undefined) assert.equal(skew.sentence, undefined);
    else assert.match(skew.sentence ?? '', sentence);
  });
}

test('UP-03 both releases are in a metric, and a difference is one warning', async () => {
  for (const [manifests, age, lines] of [
    [release, 'same', 0],
    ['99.0.0', 'newer', 1],
  ] as const) {
    const metrics = createMetrics({ process: false });
    const log = memoryLog();
    tellSkew(manifests, { metrics, log });
    const series = `rossoctl_build_info{version="${release}",manifests="${manifests}",manifests_age="${age}"} 1`;
    assert.ok((await metrics.text()).includes(series));
    assert.equal(log.lines.filter(({ level }) => level === 'warn').length, lines);
  }
});
