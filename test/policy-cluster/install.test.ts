/** Each environment's tree on an API server that has nothing but SPIRE's namespace: it applies as written, twice without a change, and locks nobody out (AD-01). */

import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { type Manifest, manifestsOf, treeOf } from '../../stacks/tree.ts';
import { writeTree } from '../../stacks/write-tree.ts';
import { type ControlPlane, startControlPlane } from '../lab/control-plane.ts';
import { appOf, platformEnvironments } from '../support/environments.ts';
import { eventually, type Json, type Kube, kubeOf } from './kube.ts';
import { kubectl } from './kubectl.ts';
import { makeNamespace } from './policy-bed.ts';

interface Installed {
  readonly plane: ControlPlane;
  readonly kube: Kube;
  readonly dir: string;
  readonly manifests: readonly Manifest[];
}

const crd = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/agentruntimes.agent.rossoctl.dev';

/** A pod that no node will ever run: enough to see who may create it. */
function pod(name: string, labels: Readonly<Record<string, string>> = {}): Json {
  const containers = [{ name: 'c', image: 'example.test/agent:1' }];
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name, labels }, spec: { containers } };
}

const namespacesOfAgents = (manifests: readonly Manifest[]) =>
  manifests
    .filter(({ kind, metadata }) => kind === 'Namespace' && metadata.name !== 'rossoctl-system')
    .map(({ metadata }) => metadata.name);

/** Namespaces that the tree puts something in and does not make: they must be there. */
const presupposed = (manifests: readonly Manifest[]) => {
  const made = manifests.filter(({ kind }) => kind === 'Namespace').map(({ metadata }) => metadata.name);
  const used = manifests.flatMap(({ metadata }) => metadata.namespace ?? []);
  return [...new Set(used)].filter((name) => !made.includes(name));
};

for (const environment of platformEnvironments()) {
  describe(`the tree of ${environment}`, () => {
    let installed: Installed;
    before(async () => {
      const plane = await startControlPlane({ name: `install-${environment}`, withControllerManager: true });
      const manifests = manifestsOf(appOf(environment));
      const dir = mkdtempSync(path.join(tmpdir(), 'rossoctl-install-'));
      writeTree(dir, treeOf(manifests));
      installed = { plane, kube: kubeOf(plane), dir, manifests };
      for (const name of presupposed(manifests)) await makeNamespace(installed.kube, name);
    });
    after(async () => {
      await installed.kube.close();
      await installed.plane.stop();
      rmSync(installed.dir, { recursive: true, force: true });
    });

    test('presupposes the namespace of SPIRE where signatures are verified, and no other', () => {
      assert.deepEqual(presupposed(installed.manifests), environment === 'local' ? [] : ['spire']);
    });

    test('applies on an empty cluster, in one go, as a folder of files', async () => {
      const { plane, dir, manifests } = installed;
      const ran = await kubectl(plane, ['apply', '--server-side', '--validate=strict', '-R', '-f', dir]);
      assert.equal(ran.code, 0, ran.stderr);
      assert.equal(ran.stdout.trim().split('\n').length, manifests.length);
      assert.doesNotMatch(ran.stderr, /warning/i);
    });

    test('a second time, for real, as a dry run and as a kustomization, nothing changes', async () => {
      const { plane, dir } = installed;
      const versions = async () => {
        const { stdout } = await kubectl(plane, ['get', '-R', '-f', dir, '-o', 'json']);
        const { items } = JSON.parse(stdout) as {
          items: readonly (Manifest & { metadata: { uid: string; generation?: number } })[];
        };
        return items.map(({ kind, metadata: { namespace, name, uid, generation } }) => [
          kind,
          namespace,
          name,
          uid,
          generation,
        ]);
      };
      const firstVersions = await versions();
      for (const how of [
        ['-R', '-f', dir],
        ['--dry-run=server', '-R', '-f', dir],
        ['-k', dir],
      ]) {
        const ran = await kubectl(plane, ['apply', '--server-side', ...how]);
        assert.equal(ran.code, 0, ran.stderr);
      }
      assert.deepEqual(await versions(), firstVersions);
    });

    test('the CRD is established, structural, and its columns and short names answer', async () => {
      const { plane, kube } = installed;
      await eventually(async () => {
        const { body } = await kube.request('GET', crd);
        const conditions =
          (body['status'] as { conditions?: readonly { type: string; status: string }[] }).conditions ?? [];
        assert.equal(
          conditions.some(({ type }) => type === 'NonStructuralSchema'),
          false,
        );
        const established = conditions.find(({ type }) => type === 'Established');
        return established?.status === 'True' ? undefined : JSON.stringify(conditions);
      });
      for (const name of ['art', 'agentrt', 'agentruntimes', 'rossoctl']) {
        const ran = await kubectl(plane, ['get', name, '-A']);
        assert.equal(ran.code, 0, ran.stderr);
      }
    });

    test('AD-01 with no operator running, system pods, its own pods and unlabelled pods are created', async () => {
      const { kube, manifests } = installed;
      const labels = { 'rossoctl.io/type': 'agent' };
      const create = (namespace: string, object: Json) =>
        kube.request('POST', `/api/v1/namespaces/${namespace}/pods`, object);
      const [agents = ''] = namespacesOfAgents(manifests);
      await eventually(async () => {
        const { code } = await kube.request('GET', `/api/v1/namespaces/${agents}/serviceaccounts/default`);
        return code === 200 ? undefined : 'the namespace has no account yet';
      });
      for (const [namespace, object] of [
        ['kube-system', pod('dns', labels)],
        ['rossoctl-system', pod('ours', labels)],
        [agents, pod('plain')],
        [agents, pod('opted-out', { ...labels, 'rossoctl.io/inject': 'disabled' })],
      ] as const) {
        const { code, message } = await create(namespace, object);
        assert.equal(code, 201, `${namespace}: ${message}`);
      }
      const { code, message } = await create(agents, pod('agent', labels));
      assert.equal(code, 500, message);
      assert.match(message, /failed calling webhook "inject\.rossoctl\.io"/);
    });

    test('a namespace without the opt-in label is asked only where the install does not require the label', async () => {
      const { kube } = installed;
      await makeNamespace(kube, 'unlabelled');
      await eventually(async () => {
        const { code } = await kube.request('GET', '/api/v1/namespaces/unlabelled/serviceaccounts/default');
        return code === 200 ? undefined : 'no account yet';
      });
      const url = '/api/v1/namespaces/unlabelled/pods';
      const { code } = await kube.request('POST', url, pod('agent', { 'rossoctl.io/type': 'agent' }));
      // local and demo watch every namespace; dev only those it lists; production only those that opt in.
      assert.equal(code, ['local', 'demo'].includes(environment) ? 500 : 201);
    });

    test('RC-04 with no operator running, an AgentRuntime’s finalizers can still be removed and it goes', async () => {
      const { kube } = installed;
      const [space = ''] = namespacesOfAgents(installed.manifests);
      const collection = `/apis/agent.rossoctl.dev/v1alpha1/namespaces/${space}/agentruntimes`;
      const object = {
        apiVersion: 'agent.rossoctl.dev/v1alpha1',
        kind: 'AgentRuntime',
        metadata: { name: 'weather', finalizers: ['rossoctl.io/cleanup'] },
        spec: { type: 'agent', targetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'weather' } },
      };
      const refused = await kube.request('POST', collection, object);
      assert.match(refused.message, /failed calling webhook "agentruntime\.rossoctl\.io"/);
      const hook = '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/rossoctl-validator';
      const config = await kube.request('GET', hook);
      await kube.request('DELETE', hook);
      await eventually(async () => {
        const { code, message } = await kube.request('POST', collection, object);
        return code === 201 || code === 409 ? undefined : message;
      });
      const { metadata, ...rest } = config.body as { metadata: { name: string } };
      await kube.request('POST', path.dirname(hook), { ...rest, metadata: { name: metadata.name } });
      const merge = { contentType: 'application/merge-patch+json' };
      let turn = 0;
      await eventually(async () => {
        const type = turn++ % 2 === 0 ? 'tool' : 'agent';
        const changed = await kube.request('PATCH', `${collection}/weather`, { spec: { type } }, merge);
        return changed.code === 500 ? undefined : `the validator is not asked yet (${changed.code})`;
      });
      const annotated = await kube.request(
        'PATCH',
        `${collection}/weather`,
        { metadata: { annotations: { a: 'b' } } },
        merge,
      );
      assert.equal(annotated.code, 200, annotated.message);
      assert.equal((await kube.request('DELETE', `${collection}/weather`)).code, 200);
      const freed = await kube.request('PATCH', `${collection}/weather`, { metadata: { finalizers: null } }, merge);
      assert.equal(freed.code, 200, freed.message);
      assert.equal((await kube.request('GET', `${collection}/weather`)).code, 404);
    });

    test('UP-01 removed in the documented order, nothing is left that could refuse a pod', async () => {
      const { plane, kube, dir, manifests } = installed;
      const groups = readdirSync(dir, { withFileTypes: true }).filter((entry) => entry.isDirectory());
      const names = groups.map(({ name }) => name).sort();
      for (const group of names.filter((name) => name !== '00-namespaces').toReversed()) {
        const ran = await kubectl(plane, ['delete', '--wait=false', '-R', '-f', path.join(dir, group)]);
        assert.equal(ran.code, 0, ran.stderr);
      }
      const [agents = ''] = namespacesOfAgents(manifests);
      await eventually(async () => {
        const url = `/api/v1/namespaces/${agents}/pods`;
        const { code, message } = await kube.request('POST', url, pod('after', { 'rossoctl.io/type': 'agent' }));
        return code === 201 ? undefined : message;
      });
      await eventually(async () => {
        const ran = await kubectl(plane, ['get', '-R', '-f', dir, '--ignore-not-found', '-o', 'name']);
        const left = ran.stdout
          .trim()
          .split('\n')
          .filter((name) => !name.startsWith('namespace/'));
        return left.length === 0 ? undefined : left.join(' ');
      });
    });
  });
}
