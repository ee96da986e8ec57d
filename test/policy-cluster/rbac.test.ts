/** RB-02: what the operator's account may do on a real API server is what its features declare, in both directions and both modes. */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { App, Chart } from 'cdk8s';
import { AgentPlatform, type AgentPlatformProps } from '../../constructs/index.ts';
import { type Grants, operatorPermissions } from '../../constructs/permissions.ts';
import type { Permission } from '../../runtime/engine/types.ts';
import { type ControlPlane, startControlPlane } from '../lab/control-plane.ts';
import { type Json, type Kube, kubeOf } from './kube.ts';

const account = 'system:serviceaccount:rossoctl-system:rossoctl-operator';
const groups = ['system:serviceaccounts', 'system:serviceaccounts:rossoctl-system', 'system:authenticated'];

interface Ask {
  readonly verb: string;
  readonly group: string;
  /** May have a subresource: `deployments/scale`. */
  readonly resource: string;
  /** Absent: cluster-wide. */
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
}

const verbs = [
  'get',
  'list',
  'watch',
  'create',
  'update',
  'patch',
  'delete',
  'deletecollection',
  'bind',
  'escalate',
  'impersonate',
];
/** What nobody should find in this account, besides every verb on what is declared. */
const temptations: readonly (readonly [group: string, resource: string])[] = [
  ['', 'secrets'],
  ['', 'nodes'],
  ['', 'pods/exec'],
  ['', 'pods/ephemeralcontainers'],
  ['', 'serviceaccounts/token'],
  ['', 'services'],
  ['apps', 'deployments/scale'],
  ['rbac.authorization.k8s.io', 'roles'],
  ['rbac.authorization.k8s.io', 'clusterrolebindings'],
  ['admissionregistration.k8s.io', 'validatingadmissionpolicies'],
  ['apiextensions.k8s.io', 'customresourcedefinitions'],
  ['networking.k8s.io', 'networkpolicies'],
];

const rbacCollections: Readonly<Record<string, (namespace: string) => string>> = {
  ClusterRole: () => 'clusterroles',
  ClusterRoleBinding: () => 'clusterrolebindings',
  Role: (namespace) => `namespaces/${namespace}/roles`,
  RoleBinding: (namespace) => `namespaces/${namespace}/rolebindings`,
};

/** Does a declared permission cover the question, in a mode that watches `watched` (absent: everything)? */
function isDeclared(permissions: readonly Permission[], ask: Ask, watched: readonly string[] | undefined): boolean {
  return permissions.some(
    (permission) =>
      permission.apiGroup === ask.group &&
      permission.resources.includes(ask.resource) &&
      permission.verbs.some((verb) => verb === ask.verb) &&
      (permission.resourceNames === undefined || permission.resourceNames.includes(ask.name ?? '')) &&
      covers(permission.scope, ask.namespace, watched),
  );
}

function covers(
  scope: Permission['scope'],
  namespace: string | undefined,
  watched: readonly string[] | undefined,
): boolean {
  if (scope === 'own') return namespace === 'rossoctl-system';
  if (typeof scope === 'object') return namespace === scope.namespace;
  if (scope === 'cluster' || watched === undefined) return true;
  return namespace !== undefined && watched.includes(namespace);
}

/** Questions about everything that is declared by any install, so that what one variant lacks is asked for there too. */
function questions(): readonly Ask[] {
  const everything = modes.flatMap(({ grants }) => operatorPermissions(grants));
  const declared = everything.flatMap(({ apiGroup, resources, resourceNames = [] }) =>
    resources.flatMap((resource) =>
      [undefined, ...resourceNames, 'another'].map((name) => ({ group: apiGroup, resource, name })),
    ),
  );
  const tempting = temptations.map(([group, resource]) => ({ group, resource, name: undefined }));
  const all = [...declared, ...tempting].flatMap((what) =>
    [undefined, 'rossoctl-system', 'team1', 'team3', 'spire'].flatMap((namespace) =>
      verbs.map((verb) => ({ ...what, namespace, verb })),
    ),
  );
  return [...new Map(all.map((ask) => [JSON.stringify(ask), ask])).values()];
}

interface Mode {
  readonly title: string;
  readonly props: Partial<AgentPlatformProps>;
  readonly watched: readonly string[] | undefined;
  /** What the props ask for. */
  readonly grants: Grants;
}

const trustBundle = { namespace: 'spire', name: 'spire-bundle' };
const modes: readonly Mode[] = [
  {
    title: 'cluster mode, as it comes',
    props: {},
    watched: undefined,
    grants: {
      deploymentName: 'rossoctl-operator',
      certificates: 'self-managed',
      requireSignature: false,
      trustBundle,
      networkPolicies: false,
    },
  },
  {
    title: 'namespaced mode, everything on, with a certificate of others',
    props: {
      watch: { kind: 'namespaced', namespaces: ['team1'] },
      deploymentName: 'rossoctl-operator',
      certificates: 'cert-manager',
      verification: { requireSignature: true },
      networkPolicies: { enforce: true },
    },
    watched: ['team1'],
    grants: {
      deploymentName: 'rossoctl-operator',
      certificates: 'cert-manager',
      requireSignature: true,
      trustBundle,
      networkPolicies: true,
    },
  },
];

for (const [index, { title, props, watched, grants }] of modes.entries()) {
  describe(title, () => {
    let plane: ControlPlane;
    let kube: Kube;
    before(async () => {
      plane = await startControlPlane({ name: `rbac-${index}` });
      kube = kubeOf(plane);
      for (const name of ['rossoctl-system', 'team1', 'team3', 'spire']) {
        await kube.request('POST', '/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
      }
      const chart = new Chart(new App(), 'platform');
      new AgentPlatform(chart, 'rossoctl', { image: 'i', ...props });
      for (const object of chart.toJson() as readonly (Json & { kind: string; metadata: { namespace?: string } })[]) {
        const collection = rbacCollections[object.kind]?.(object.metadata.namespace ?? '');
        if (collection === undefined) continue;
        const made = await kube.request('POST', `/apis/rbac.authorization.k8s.io/v1/${collection}`, object);
        if (made.code !== 201) throw new Error(`${object.kind}: ${made.message}`);
      }
    });
    after(async () => {
      await kube.close();
      await plane.stop();
    });

    const isAllowed = async ({ verb, group, resource, namespace, name }: Ask): Promise<boolean> => {
      const [main, subresource] = resource.split('/');
      const answer = await kube.request('POST', '/apis/authorization.k8s.io/v1/subjectaccessreviews', {
        apiVersion: 'authorization.k8s.io/v1',
        kind: 'SubjectAccessReview',
        spec: {
          user: account,
          groups,
          resourceAttributes: { verb, group, resource: main, subresource, namespace, name },
        },
      });
      const { allowed } = answer.body['status'] as { allowed: boolean };
      return allowed;
    };

    test('RB-02 every question is answered as declared: nothing is missing, nothing is too much', async () => {
      const asked = questions();
      const permissions = operatorPermissions(grants);
      const wrong: string[] = [];
      for (let start = 0; start < asked.length; start += 50) {
        const batch = asked.slice(start, start + 50);
        const answers = await Promise.all(batch.map(isAllowed));
        answers.forEach((allowed, index) => {
          const ask = batch[index];
          if (ask !== undefined && allowed !== isDeclared(permissions, ask, watched)) {
            wrong.push(`${allowed ? 'too much' : 'missing'}: ${JSON.stringify(ask)}`);
          }
        });
      }
      assert.ok(asked.length > 500, `${asked.length} questions`);
      assert.deepEqual(wrong, []);
    });

    test('RB-01 the account reads what it watches and nothing beside it', async () => {
      const who = { user: account, groups };
      const list = (url: string) => kube.status(url, who);
      assert.equal(await list('/api/v1/namespaces/team1/pods'), 200);
      const own = '/api/v1/namespaces/rossoctl-system/configmaps';
      for (const name of ['rossoctl-platform-config', 'rossoctl-feature-gates']) {
        assert.equal(await list(`${own}?fieldSelector=metadata.name%3D${name}`), 200);
        const watching = `watch=true&timeoutSeconds=1&allowWatchBookmarks=true&fieldSelector=metadata.name%3D${name}`;
        assert.equal(await list(`${own}?${watching}`), 200);
        const streaming = `${watching}&sendInitialEvents=true&resourceVersionMatch=NotOlderThan`;
        assert.equal(await list(`${own}?${streaming}`), 200);
      }
      // In cluster mode the defaults of namespaces are read everywhere.
      const beside = watched === undefined ? 200 : 403;
      assert.equal(await list(own), beside);
      assert.equal(await list(`${own}?fieldSelector=metadata.name%3Danother`), beside);
      assert.equal(await list(`${own}?watch=true&timeoutSeconds=1`), beside);
      assert.equal(await list('/api/v1/namespaces/team3/pods'), watched === undefined ? 200 : 403);
      assert.equal(await list('/api/v1/pods'), watched === undefined ? 200 : 403);
      assert.equal(await list('/api/v1/secrets'), 403);
    });
  });
}
