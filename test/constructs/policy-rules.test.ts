/** Permissions to rules: merged and sorted, and never more than was declared. */

import assert from 'node:assert/strict';
import test from 'node:test';
import * as fc from 'fast-check';
import { policyRules, reasons } from '../../constructs/policy-rules.ts';
import type { Permission } from '../../runtime/engine/types.ts';

const permission = (partial: Partial<Permission>): Permission => ({
  apiGroup: '',
  resources: ['pods'],
  verbs: ['get'],
  scope: 'watched',
  why: 'because',
  ...partial,
});

const cases: readonly (readonly [what: string, permissions: readonly Permission[], rules: unknown])[] = [
  ['nothing asked, nothing granted', [], []],
  [
    'verbs on one resource become one rule',
    [permission({ verbs: ['watch'] }), permission({ verbs: ['list', 'get'] })],
    [{ apiGroups: [''], resources: ['pods'], verbs: ['get', 'list', 'watch'] }],
  ],
  [
    'resources with the same verbs share a rule',
    [permission({ resources: ['pods', 'events'] }), permission({ resources: ['configmaps'] })],
    [{ apiGroups: [''], resources: ['configmaps', 'events', 'pods'], verbs: ['get'] }],
  ],
  [
    'a group never leaks into another',
    [permission({}), permission({ apiGroup: 'apps', resources: ['deployments'] })],
    [
      { apiGroups: [''], resources: ['pods'], verbs: ['get'] },
      { apiGroups: ['apps'], resources: ['deployments'], verbs: ['get'] },
    ],
  ],
  [
    'a limit by name stays a limit',
    [
      permission({ resources: ['secrets'], resourceNames: ['b', 'a'] }),
      permission({ resources: ['secrets'], verbs: ['create'] }),
    ],
    [
      { apiGroups: [''], resources: ['secrets'], verbs: ['create'] },
      { apiGroups: [''], resources: ['secrets'], resourceNames: ['a', 'b'], verbs: ['get'] },
    ],
  ],
];
for (const [what, permissions, rules] of cases) {
  test(what, () => {
    assert.deepEqual(policyRules(permissions), rules);
  });
}

test('RB-02 a wildcard is refused, wherever it stands', () => {
  for (const wild of [
    { verbs: ['*'] as unknown as Permission['verbs'] },
    { resources: ['*'] },
    { resources: ['pods/*'] },
    { apiGroup: '*' },
    { resourceNames: ['*'] },
  ]) {
    assert.throws(() => policyRules([permission(wild)]), /wildcard/);
  }
});

const anyPermission = fc.record({
  apiGroup: fc.constantFrom('', 'apps', 'batch'),
  resources: fc.uniqueArray(fc.constantFrom('pods', 'jobs', 'secrets'), { minLength: 1 }),
  verbs: fc.uniqueArray(fc.constantFrom('get' as const, 'list' as const, 'patch' as const), { minLength: 1 }),
  resourceNames: fc.option(fc.uniqueArray(fc.constantFrom('a', 'b'), { minLength: 1 }), { nil: undefined }),
});
/** Every single right: group, resource, verb and name (`*` for all). */
const rights = (
  rows: readonly {
    groups: readonly string[];
    resources: readonly string[];
    verbs: readonly string[];
    names: readonly string[];
  }[],
) =>
  new Set(
    rows.flatMap(({ groups, resources, verbs, names }) =>
      groups.flatMap((group) =>
        resources.flatMap((resource) =>
          verbs.flatMap((verb) => names.map((name) => [group, resource, verb, name].join(' '))),
        ),
      ),
    ),
  );

test('RB-02 rules grant exactly what is declared, whatever the order', () => {
  fc.assert(
    fc.property(fc.array(anyPermission), (list) => {
      const permissions = list.map(({ resourceNames, ...rest }) =>
        permission({ ...rest, ...(resourceNames === undefined ? {} : { resourceNames }) }),
      );
      const rules = policyRules(permissions);
      assert.deepEqual(policyRules(permissions.toReversed()), rules);
      const declared = rights(
        permissions.map(({ apiGroup, resources, verbs, resourceNames = ['*'] }) => ({
          groups: [apiGroup],
          resources,
          verbs,
          names: resourceNames,
        })),
      );
      const granted = rights(
        rules.map(({ apiGroups, resources, verbs, resourceNames = ['*'] }) => ({
          groups: apiGroups,
          resources,
          verbs,
          names: resourceNames,
        })),
      );
      assert.deepEqual([...granted].sort(), [...declared].sort());
    }),
  );
});

test('each reason is one line that names what it is about', () => {
  assert.equal(
    reasons([permission({ apiGroup: 'apps', resources: ['deployments'], why: 'b' }), permission({ why: 'a' })]),
    'deployments.apps (get): b\npods (get): a',
  );
});
