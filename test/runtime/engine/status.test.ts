import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { isEqualJson } from '../../../runtime/engine/json.ts';
import { kubeTime, settledStatus } from '../../../runtime/engine/status.ts';

const now = new Date('2026-03-04T05:06:07.891Z');
const condition = (status: string, message = 'm', lastTransitionTime?: string) => ({
  type: 'Ready',
  status,
  message,
  ...(lastTransitionTime === undefined ? {} : { lastTransitionTime }),
});

for (const [why, current, desired, expected] of [
  ['a new condition gets the time', undefined, condition('True'), '2026-03-04T05:06:07Z'],
  ['one whose message changed keeps its time', condition('True', 'old', 'T1'), condition('True', 'new'), 'T1'],
  ['one that flipped gets the time', condition('False', 'm', 'T1'), condition('True'), '2026-03-04T05:06:07Z'],
  [
    'one that flipped and brings a time of its own keeps that',
    condition('False', 'm', 'T1'),
    condition('True', 'm', 'T2'),
    'T2',
  ],
  [
    'one that did not flip and brings no time that has come gets the time',
    condition('True', 'm', '2037-01-01T00:00:00Z'),
    condition('True', 'm'),
    '2026-03-04T05:06:07Z',
  ],
  [
    'one that did not flip keeps the old time whatever it brings',
    condition('True', 'm', 'T1'),
    condition('True', 'm', 'T2'),
    'T1',
  ],
] as const) {
  test(why, () => {
    const settled = settledStatus(
      { conditions: current === undefined ? [] : [current] },
      { conditions: [desired] },
      now,
    );
    assert.ok(isEqualJson(settled, { conditions: [{ ...desired, lastTransitionTime: expected }] }));
  });
}

test('a status without conditions passes as it is', () => {
  const status = { phase: 'Active' };
  assert.equal(settledStatus({ conditions: [condition('True')] }, status, now), status);
});

test('Kubernetes times have whole seconds', () => assert.equal(kubeTime(now), '2026-03-04T05:06:07Z'));

test('property: RC-06, settling what was settled changes nothing, at any later time', () => {
  const arbitrary = fc.uniqueArray(
    fc.record({
      type: fc.constantFrom('A', 'B', 'C'),
      status: fc.constantFrom('True', 'False', 'Unknown'),
      message: fc.string(),
    }),
    { selector: ({ type }) => type },
  );
  fc.assert(
    fc.property(arbitrary, fc.nat(1e9), (conditions, later) => {
      const once = settledStatus(undefined, { conditions }, now);
      assert.ok(isEqualJson(settledStatus(once, { conditions }, new Date(now.getTime() + later)), once));
    }),
  );
});
