/** The reading of grants that the test of the whole process relies on: a broad grant is idle where a narrow one would have done. */

import assert from 'node:assert/strict';
import test from 'node:test';
import { type Grant, isNeededFor } from '../operator-cluster/grants.ts';
import type { AuditRequest } from '../support/audit-log.ts';

const broad: Grant = { verb: 'list', resource: '/configmaps', at: 'own', names: [] };
const narrow: Grant = { ...broad, names: ['a'] };
const everywhere: Grant = { ...broad, at: '*' };
const listing = (namespace: string, name?: string) =>
  ({
    verb: 'list',
    requestURI: `/x?limit=1${name === undefined ? '' : `&fieldSelector=metadata.name%3D${name}`}`,
    objectRef: { apiGroup: '', resource: 'configmaps', namespace },
  }) as unknown as AuditRequest;

const cases: readonly (readonly [
  what: string,
  grant: Grant,
  all: readonly Grant[],
  request: AuditRequest,
  is: boolean,
])[] = [
  ['a broad grant alone is needed', broad, [broad], listing('own', 'a'), true],
  ['beside a narrow one it is not', broad, [broad, narrow], listing('own', 'a'), false],
  ['unless another name is asked for', broad, [broad, narrow], listing('own', 'b'), true],
  ['the narrow one is', narrow, [broad, narrow], listing('own', 'a'), true],
  [
    'a grant everywhere is not needed for a place that has its own',
    everywhere,
    [everywhere, narrow],
    listing('own', 'a'),
    false,
  ],
  ['but for others', everywhere, [everywhere, narrow], listing('team1'), true],
];
for (const [what, grant, all, request, is] of cases) {
  test(what, () => {
    assert.equal(isNeededFor(grant, request, all), is);
  });
}
