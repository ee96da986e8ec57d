/** The declared permissions suffice: an operator that has those rights and no other enrols, rolls, names, releases and cleans up. */

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { permissions } from '../../runtime/agent-runtime/permissions.ts';
import { kinds } from '../../runtime/api/kinds.ts';
import { configMaps, install } from '../../runtime/api/names.ts';
import type { Kind, KubeObject, Permission } from '../../runtime/engine/types.ts';
import { eventually } from '../support/engine-bed.ts';
import { type EnrolmentBed, inNamespace, type Operator, startEnrolmentBed } from './bed.ts';
import { agentRuntime, deployment, platformConfig } from './objects.ts';

const rbac = (kind: string, plural: string, namespaced: boolean): Kind => ({
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind,
  plural,
  namespaced,
});
const clusterRole = rbac('ClusterRole', 'clusterroles', false);
const clusterBinding = rbac('ClusterRoleBinding', 'clusterrolebindings', false);
const role = rbac('Role', 'roles', true);
const binding = rbac('RoleBinding', 'rolebindings', true);

let bed: EnrolmentBed;
let operator: Operator;
before(async () => {
  bed = await startEnrolmentBed('permissions');
  const account = { namespace: install.namespace, name: install.serviceAccount };
  await bed.client.create(kinds.serviceAccount, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: account });
  const rules = (wanted: (one: Permission) => boolean) =>
    permissions.filter(wanted).map(({ apiGroup, resources, verbs, resourceNames }) => ({
      apiGroups: [apiGroup],
      resources,
      verbs,
      ...(resourceNames === undefined ? {} : { resourceNames }),
    }));
  const make = (kind: Kind, namespace: string | undefined, body: object) =>
    bed.client.create(kind, {
      apiVersion: kind.apiVersion,
      kind: kind.kind,
      metadata: { name: 'operator', ...(namespace === undefined ? {} : { namespace }) },
      ...body,
    } as KubeObject);
  const subjects = [{ kind: 'ServiceAccount', ...account }];
  const refer = (kind: string) => ({
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind, name: 'operator' },
    subjects,
  });
  await make(clusterRole, undefined, { rules: rules(({ scope }) => scope !== 'own') });
  await make(clusterBinding, undefined, refer('ClusterRole'));
  await make(role, install.namespace, { rules: rules(({ scope }) => scope === 'own') });
  await make(binding, install.namespace, refer('Role'));
  const tokens: Kind = {
    apiVersion: 'v1',
    kind: 'TokenRequest',
    plural: `serviceaccounts/${account.name}/token`,
    namespaced: true,
  };
  const request = {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    metadata: { namespace: account.namespace },
    spec: {},
  };
  const { status } = (await bed.client.create(tokens, request)) as KubeObject & {
    readonly status: { readonly token: string };
  };
  operator = await bed.startOperator({
    token: status.token,
    reversals: { count: 1, windowMs: 1_000, pauseMs: 300, longestMs: 300 },
  });
});
after(() => bed.stop());

test('RB-02 an operator with the declared rights alone does all of its work', async () => {
  const ns = await inNamespace(bed, 'rights');
  await bed.client.create(kinds.configMap, platformConfig('mtls: {mode: permissive}\n'));
  await ns.create(kinds.deployment, deployment(ns.name, 'weather-agent', { replicas: 0, serviceAccount: 'made' }));
  await ns.create(kinds.agentRuntime, agentRuntime(ns.name));
  await ns.says('Active/Configured');
  const target = { kind: kinds.deployment, namespace: ns.name, name: 'weather-agent' };
  // Asks who undid it, which reads the workload and its managers.
  await bed.client.mergePatch(target, { metadata: { labels: { 'rossoctl.io/type': null } } });
  await ns.says('Error/FieldConflict');
  await ns.says('Active/Configured');
  await ns.remove();
  await ns.isGone();
  await eventually(async () => {
    const { items } = await bed.client.list(kinds.configMap, { namespace: ns.name });
    return !items.some(({ metadata }) => metadata.name === configMaps.authBridge.name);
  });
  const refused = operator.log.lines.filter(({ fields, message }) =>
    /forbidden|403/i.test(`${message} ${JSON.stringify(fields)}`),
  );
  assert.deepEqual(refused, []);
  await operator.events.idle();
  assert.ok(operator.writes(ns.name).some(({ resource }) => resource === 'events'));
});

test('CF-02 those rights do not reach any other ConfigMap', async () => {
  const denied = await bed.reviewAccess(`system:serviceaccount:${install.namespace}:${install.serviceAccount}`, {
    verb: 'patch',
    resource: 'configmaps',
    namespace: 'rights',
    name: 'defaults',
  });
  assert.equal(denied, false);
});
