/** RBAC of an install: which roles exist in which mode, and what none of them may hold. */

import assert from 'node:assert/strict';
import test from 'node:test';
import { App, Chart } from 'cdk8s';
import type { AgentPlatformProps } from '../../constructs/index.ts';
import { type Grants, operatorPermissions } from '../../constructs/permissions.ts';
import { OperatorRbac } from '../../constructs/rbac.ts';
import { WatchedNamespaces, type WatchScope } from '../../constructs/watched-namespaces.ts';
import type { Permission } from '../../runtime/engine/types.ts';
import { platform, type Synthesized } from './synthesized.ts';

const permission = (resource: string, scope: Permission['scope']): Permission => ({
  apiGroup: '',
  resources: [resource],
  verbs: ['get'],
  scope,
  why: `${resource} are read`,
});
const permissions = [permission('pods', 'watched'), permission('leases', 'own'), permission('namespaces', 'cluster')];

function rendered(scope: WatchScope, given: readonly Permission[] = permissions): readonly string[] {
  const chart = new Chart(new App(), 'test');
  const watched = new WatchedNamespaces(scope);
  new OperatorRbac(chart, 'rbac', {
    namespace: 'op-ns',
    serviceAccountName: 'op',
    prefix: 'op',
    watched,
    permissions: given,
  });
  return (chart.toJson() as readonly Synthesized[])
    .map(({ kind, metadata, ...rest }) => {
      const resources = (rest['rules'] ?? []).flatMap((rule: { resources: string[] }) => rule.resources);
      return [kind, metadata.namespace ?? '-', metadata.name, ...resources].join(' ');
    })
    .sort();
}

test('cluster mode: ClusterRoles for watched and cluster, a Role for own', () => {
  assert.deepEqual(rendered({ kind: 'cluster' }), [
    'ClusterRole - op-cluster-role namespaces',
    'ClusterRole - op-manager-role pods',
    'ClusterRoleBinding - op-cluster-rolebinding',
    'ClusterRoleBinding - op-manager-rolebinding',
    'Role op-ns op-own-role leases',
    'RoleBinding op-ns op-own-rolebinding',
  ]);
});

test('RB-01 namespaced mode: only Roles, but for the cluster-scoped reads that were declared', () => {
  assert.deepEqual(rendered({ kind: 'namespaced', namespaces: ['b', 'a'] }), [
    'ClusterRole - op-cluster-role namespaces',
    'ClusterRoleBinding - op-cluster-rolebinding',
    'Role a op-manager-role pods',
    'Role b op-manager-role pods',
    'Role op-ns op-own-role leases',
    'RoleBinding a op-manager-rolebinding',
    'RoleBinding b op-manager-rolebinding',
    'RoleBinding op-ns op-own-rolebinding',
  ]);
  const without = rendered(
    { kind: 'namespaced', namespaces: ['a'] },
    permissions.filter(({ scope }) => scope !== 'cluster'),
  );
  assert.deepEqual(
    without.filter((line) => line.startsWith('Cluster')),
    [],
  );
});

test('the operator may watch its own namespace too: two roles of different names', () => {
  const lines = rendered({ kind: 'namespaced', namespaces: ['op-ns'] }).filter((line) => line.startsWith('Role op-ns'));
  assert.deepEqual(lines, ['Role op-ns op-manager-role pods', 'Role op-ns op-own-role leases']);
});

test('a scope nobody asks for leaves nothing', () => {
  assert.deepEqual(rendered({ kind: 'cluster' }, []), []);
});

interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly verbs: readonly string[];
}
const rolesOf = (props: Partial<AgentPlatformProps>) =>
  platform(props).filter(({ kind }) => kind === 'Role' || kind === 'ClusterRole');
const rulesAbout = (roles: readonly Synthesized[], resource: string): readonly Rule[] =>
  roles.flatMap((role): readonly Rule[] => role['rules']).filter(({ resources }) => resources.includes(resource));

/** What a role grants on any name although it grants the same on some names too: one of the two is too much. */
function broadBesideNarrow(rules: readonly Rule[]): readonly string[] {
  const single = rules.flatMap(({ apiGroups, resources, verbs, resourceNames }) =>
    apiGroups.flatMap((group) =>
      resources.flatMap((resource) =>
        verbs.map((verb) => ({ what: `${verb} ${group}/${resource}`, isNarrow: resourceNames !== undefined })),
      ),
    ),
  );
  const narrow = new Set(single.filter(({ isNarrow }) => isNarrow).map(({ what }) => what));
  return single.filter(({ what, isNarrow }) => !isNarrow && narrow.has(what)).map(({ what }) => what);
}

test('RB-02 whoever is handed the certificate reads no Secret and writes no webhook registration', () => {
  const roles = rolesOf({ certificates: 'cert-manager' });
  assert.deepEqual(rulesAbout(roles, 'secrets'), []);
  assert.deepEqual(
    new Set(rulesAbout(roles, 'mutatingwebhookconfigurations').flatMap(({ verbs }) => verbs)),
    new Set(['get', 'list', 'watch']),
  );
  const own = rulesAbout(rolesOf({}), 'mutatingwebhookconfigurations').flatMap(({ verbs }) => verbs);
  assert.ok(own.includes('patch'));
});

test('RB-02 the trust bundle is read by name in its own namespace, and only where signatures are verified', () => {
  const readers = (props: Partial<AgentPlatformProps>) =>
    rolesOf({ watch: { kind: 'namespaced', namespaces: ['team1'] }, ...props })
      .filter(({ metadata }) => metadata.name === 'rossoctl-operator-reader-role')
      .map(({ metadata, rules }) => [metadata.namespace, rules]);
  const reads = (name: string) => [
    { apiGroups: [''], resources: ['configmaps'], resourceNames: [name], verbs: ['list', 'watch'] },
  ];
  assert.deepEqual(readers({}), []);
  assert.deepEqual(readers({ verification: { requireSignature: false } }), []);
  assert.deepEqual(readers({ verification: { requireSignature: true } }), [['spire', reads('spire-bundle')]]);
  const trustBundle = { namespace: 'rossoctl-system', name: 'roots' };
  assert.deepEqual(readers({ verification: { requireSignature: true, trustBundle } }), [
    ['rossoctl-system', reads('roots')],
  ]);
});

test('RB-02 network policies are touched only where they are enforced', () => {
  const verification = { requireSignature: true };
  assert.deepEqual(rulesAbout(rolesOf({ verification }), 'networkpolicies'), []);
  const [rule, ...others] = rulesAbout(
    rolesOf({ verification, networkPolicies: { enforce: true } }),
    'networkpolicies',
  );
  assert.deepEqual(rule?.verbs, ['create', 'delete', 'list', 'patch', 'watch']);
  assert.deepEqual(others, []);
});

test('RB-02 a broad grant beside a narrow one is seen', () => {
  const rule: Rule = { apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'list'] };
  assert.deepEqual(broadBesideNarrow([rule, { ...rule, verbs: ['list'], resourceNames: ['a'] }]), ['list /configmaps']);
});

const modes: readonly WatchScope[] = [{ kind: 'cluster' }, { kind: 'namespaced', namespaces: ['team1'] }];
for (const watch of modes) {
  const roles = rolesOf({ watch });

  test(`RB-02 ${watch.kind} mode: no role grants on any name what it grants on some`, () => {
    for (const role of roles) assert.deepEqual(broadBesideNarrow(role['rules']), [], role.metadata.name);
  });

  test(`RB-02 ${watch.kind} mode: of its own namespace's ConfigMaps the operator lists the two it reads`, () => {
    const own = roles.filter(({ metadata }) => metadata.namespace === 'rossoctl-system');
    for (const { resourceNames } of rulesAbout(own, 'configmaps')) {
      assert.deepEqual(resourceNames, ['rossoctl-feature-gates', 'rossoctl-platform-config']);
    }
  });

  test(`RB-02 ${watch.kind} mode: no wildcard anywhere`, () => {
    assert.equal(JSON.stringify(roles.map((role) => role['rules'])).includes('*'), false);
  });

  test(`RB-02 ${watch.kind} mode: Secrets only in the operator's own namespace, and readable only by name`, () => {
    for (const role of roles) {
      for (const rule of role['rules'].filter((row: { resources: string[] }) => row.resources.includes('secrets'))) {
        assert.equal(role.metadata.namespace, 'rossoctl-system');
        if (rule.resourceNames === undefined) assert.deepEqual(rule.verbs, ['create']);
      }
    }
  });

  test(`RB-02 ${watch.kind} mode: the operator cannot write roles, bindings or admission policies`, () => {
    for (const rule of roles.flatMap((role) => role['rules'])) {
      assert.equal(rule.apiGroups.includes('rbac.authorization.k8s.io'), false);
      assert.equal(
        rule.resources.some((name: string) => name.startsWith('validatingadmissionpolic')),
        false,
      );
    }
  });
}

const everything: Grants = {
  deploymentName: 'rossoctl-operator',
  certificates: 'self-managed',
  requireSignature: true,
  trustBundle: { namespace: 'spire', name: 'spire-bundle' },
  networkPolicies: true,
};
const everyPart = { verification: { requireSignature: true }, networkPolicies: { enforce: true } } as const;

test('every role of the operator says why', () => {
  const ours = platform(everyPart).filter(
    ({ kind, metadata }) => kind.endsWith('Role') && metadata.name.startsWith('rossoctl-operator'),
  );
  assert.ok(ours.length > 0);
  const lines = ours.flatMap(({ metadata }) => (metadata.annotations?.['rossoctl.io/why'] ?? '').split('\n'));
  for (const { why } of operatorPermissions(everything))
    assert.ok(
      lines.some((line) => line.endsWith(why)),
      why,
    );
});
