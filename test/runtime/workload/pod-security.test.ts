/** Which Pod Security levels refuse what is injected. */

import assert from 'node:assert/strict';
import test from 'node:test';
import { podSecurityLabel, restrictingLevel } from '../../../runtime/workload/pod-security.ts';

const table = [
  ['restricted', 'restricted'],
  ['baseline', 'baseline'],
  ['a level that Kubernetes does not know', 'Restricted'],
] as const;
for (const [what, level] of table) {
  test(`${what} restricts`, () => assert.equal(restrictingLevel({ [podSecurityLabel]: level }), level));
}

test('privileged, and no level at all, restrict nothing', () => {
  assert.equal(restrictingLevel({ [podSecurityLabel]: 'privileged' }), undefined);
  assert.equal(restrictingLevel({}), undefined);
});
