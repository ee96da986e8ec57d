/** The examples as a user has them, copied and run with the npm package, on a real API server: all of it is taken, and tenants stay apart. */

import assert from 'node:assert/strict';
import { globSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { type ControlPlane, startControlPlane } from '../lab/control-plane.ts';
import { eventually, type Json, type Kube, kubeOf } from '../policy-cluster/kube.ts';
import { kubectl } from '../policy-cluster/kubectl.ts';
import { makeNamespace } from '../policy-cluster/policy-bed.ts';
import { type Consumer, makeConsumer } from './consumer.ts';
import {
  admittedRows,
  card,
  configMap,
  deploymentOf,
  forgedRows,
  injected,
  podOf,
  refusedRows,
  runtime,
  serviceOf,
} from './tenant-rows.ts';

const work = mkdtempSync(path.join(tmpdir(), 'rossoctl-examples-'));
let consumer: Consumer;
let plane: ControlPlane;
let kube: Kube;
before(async () => {
  plane = await startControlPlane({ name: 'examples', withControllerManager: true });
  kube = kubeOf(plane);
  consumer = makeConsumer(work, ['single-agent', 'fleet', 'multi-tenant', 'component']);
  consumer.node('fleet/main.ts', 'fleet-tree');
  consumer.node('multi-tenant/main.ts', 'tenants-tree');
  await makeNamespace(kube, 'team1');
  await apply('fleet-tree/00-namespaces');
  // Without the registrations, whose operator does not run here, and which come last.
  await apply('tenants-tree/00-namespaces');
  // From before the policies.
  await kube.request('POST', '/apis/apps/v1/namespaces/atlas/deployments', deploymentOf('older', { hostPID: true }));
  for (const group of ['10-crds', '20-configuration', '30-rbac', '60-policy', '80-workloads']) {
    await apply(`tenants-tree/${group}`);
  }
});
after(async () => {
  await kube.close();
  await plane.stop();
  rmSync(work, { recursive: true, force: true });
});

async function apply(where: string, ...how: readonly string[]): Promise<string> {
  const from = path.join(consumer.folder, where);
  const ran = await kubectl(plane, ['apply', '--server-side', '--validate=strict', ...how, '-R', '-f', from]);
  assert.equal(ran.code, 0, ran.stderr);
  assert.doesNotMatch(ran.stderr, /warning/i);
  return ran.stdout;
}

/** One object a file. */
const filesIn = (tree: string) => globSync('**/*.yaml', { cwd: path.join(consumer.folder, tree) }).length;

test('the API server would take everything that the examples print and write', async () => {
  writeFileSync(path.join(consumer.folder, 'weather.yaml'), consumer.node('single-agent/main.ts'));
  writeFileSync(path.join(consumer.folder, 'search.yaml'), consumer.node('single-agent/enrol.ts'));
  const rows = [
    ['weather.yaml', 4],
    ['search.yaml', 1],
    ['fleet-tree', filesIn('fleet-tree')],
    ['tenants-tree', filesIn('tenants-tree')],
  ] as const;
  for (const [where, count] of rows) {
    const out = await apply(where, '--dry-run=server');
    assert.equal(out.trim().split('\n').length, count, where);
  }
});

test('the component finds in the package what it imports', () => {
  const code = "process.stdout.write(typeof (await import('./component/agent-team.ts')).AgentTeam)";
  assert.equal(consumer.node('--input-type=module', '-e', code), 'function');
});

const api = '/apis/agent.rossoctl.dev/v1alpha1/namespaces';
/** Whoever is impersonated is in `system:authenticated` as well. */
const developer = { user: 'alice', groups: ['atlas-developers'] };
const admin = { user: 'root', groups: ['system:masters'] };

describe('a developer of one tenant', () => {
  const dry = '?dryRun=All';
  const create = (url: string, body: Json, who = developer) => kube.request('POST', `${url}${dry}`, body, { who });
  const merge = { who: developer, contentType: 'application/merge-patch+json' };
  const defaultsLabel = { 'rossoctl.io/defaults': 'true' };
  const own = '/api/v1/namespaces/atlas';

  // Rights and policies take a moment from their creation to the first answer that follows from them.
  before(() =>
    eventually(async () => {
      const asked = [
        await create(`${own}/configmaps`, configMap('probe', defaultsLabel)),
        await create(`${own}/configmaps`, configMap('rossoctl-authbridge-config')),
        await create(`${api}/atlas/agentruntimes`, runtime('probe', { spiffe: {} })),
        await create(`${own}/pods`, podOf({ hostPID: true })),
        await create(`${own}/services`, serviceOf({ type: 'NodePort' })),
      ];
      const others = asked
        .map(({ message }) => message)
        .filter((message) => !/platform team|the operator’s|nothing of the node/.test(message));
      return others.length === 0 ? undefined : others.join('; ');
    }),
  );

  test('writes agents of its own, as the platform’s examples have them', async () => {
    const identity = { allowedAudiences: ['atlas'] };
    for (const [url, body] of [
      [`${api}/atlas/agentruntimes`, runtime('weather', identity)],
      [`${own}/configmaps`, configMap('weather-settings')],
    ] as const) {
      const { code, message } = await create(url, body);
      assert.equal(code, 201, message);
    }
    assert.equal(await kube.status(`${api}/atlas/agentruntimes`, developer), 200);
  });

  test('sees nothing of another tenant, and nothing cluster-wide', async () => {
    for (const url of [
      `${api}/borealis/agentruntimes`,
      `${api}/borealis/agentcards`,
      '/api/v1/namespaces/borealis/secrets',
      '/apis/agent.rossoctl.dev/v1alpha1/agentruntimes',
      '/api/v1/namespaces/rossoctl-system/configmaps',
    ]) {
      assert.equal(await kube.status(url, developer), 403, url);
    }
    const { code } = await create(`${api}/borealis/agentruntimes`, runtime('weather'));
    assert.equal(code, 403);
  });

  test('reads AgentCards, which say who is verified, and writes none', async () => {
    // The API server has to look into its store of a new kind first.
    await eventually(async () => {
      const code = await kube.status(`${api}/atlas/agentcards`, developer);
      return code === 200 ? undefined : `answered ${code}`;
    });
    const { code, message } = await create(`${api}/atlas/agentcards`, card);
    assert.equal(code, 403, message);
  });

  test('takes nothing of a node, no priority and no address, in pods, templates and Services', async () => {
    for (const [url, body, says] of refusedRows) {
      const { code, message } = await create(url, body);
      const sent = JSON.stringify(body);
      assert.equal(code, 403, `${sent}: ${message}`);
      assert.match(message, says, sent);
    }
    for (const [url, body] of admittedRows) {
      const { code, message } = await create(url, body);
      assert.equal(code, 201, `${JSON.stringify(body)}: ${message}`);
    }
  });

  test('has pods injected as the webhook does it, and puts nothing of its own into what changes their network', async () => {
    const { code, message } = await create(`${own}/pods`, injected as unknown as Json);
    assert.equal(code, 201, message);
    for (const [title, pod] of forgedRows) {
      const refused = await create(`${own}/pods`, pod as unknown as Json);
      assert.equal(refused.code, 403, `${title}: ${refused.message}`);
      assert.match(refused.message, /container \S+, securityContext\.capabilities\.add: /, title);
    }
  });

  test('scales and labels what is older than the policies, and changes its pods to what they allow', async () => {
    const url = `/apis/apps/v1/namespaces/atlas/deployments/older${dry}`;
    const patch = (body: Json) => kube.request('PATCH', url, body, merge);
    const template = (spec: Json) => ({ spec: { template: { spec } } });
    for (const body of [{ spec: { replicas: 1 } }, { metadata: { labels: { a: 'b' } } }, template({ hostPID: null })]) {
      const { code, message } = await patch(body);
      assert.equal(code, 200, message);
    }
    const { code, message } = await patch(template({ hostIPC: true }));
    assert.equal(code, 403, message);
  });

  test('raises no quota and grants no right', async () => {
    const quota = await kube.request('PATCH', `${own}/resourcequotas/quota${dry}`, { spec: { hard: {} } }, merge);
    assert.equal(quota.code, 403);
    const rbac = '/apis/rbac.authorization.k8s.io/v1/namespaces/atlas';
    const { code } = await create(`${rbac}/rolebindings`, {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'RoleBinding',
      metadata: { name: 'friends' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'edit' },
      subjects: [],
    });
    assert.equal(code, 403);
  });

  test('neither changes, relabels nor deletes the namespace’s defaults, nor adds some; the platform team does', async () => {
    const url = `${own}/configmaps/rossoctl-defaults${dry}`;
    const changes = [
      ['PATCH', { data: { 'config.yaml': '{}' } }],
      ['PATCH', { metadata: { labels: { 'rossoctl.io/defaults': null } } }],
      ['DELETE', undefined],
    ] as const;
    for (const [method, body] of changes) {
      const options = method === 'PATCH' ? merge : { who: developer };
      const refused = await kube.request(method, url, body, options);
      assert.equal(refused.code, 403, JSON.stringify(body));
      assert.match(refused.message, /rossoctl\.io\/defaults are the platform team’s .* leave the label out/);
      const done = await kube.request(method, url, body, { ...options, who: admin });
      assert.equal(done.code, 200, done.message);
    }
    // The first by name would count.
    const refused = await create(`${own}/configmaps`, configMap('aaa', defaultsLabel));
    assert.equal(refused.code, 403);
    assert.equal((await create(`${own}/configmaps`, configMap('aaa', defaultsLabel), admin)).code, 201);
  });

  test('neither makes, changes nor deletes what injected sidecars are told; the operator and the platform team do', async () => {
    const operator = { user: 'system:serviceaccount:rossoctl-system:rossoctl-operator', groups: [] };
    const name = 'rossoctl-authbridge-config';
    const body = { ...configMap(name, { 'app.kubernetes.io/managed-by': 'rossoctl-operator' }) };
    const url = `${own}/configmaps/${name}`;
    const apply = { contentType: 'application/apply-patch+yaml' };
    const applied = `${url}?fieldManager=test&force=true`;
    const refused = async (method: string, at: string, sent?: Json, how: object = {}) => {
      const { code, message } = await kube.request(method, at, sent, { ...how, who: developer });
      assert.equal(code, 403, `${method} ${at}: ${message}`);
      assert.match(message, /rossoctl-authbridge-config is the operator’s: .* choose another name/);
    };
    await refused('POST', `${own}/configmaps`, body);
    await refused('PATCH', applied, body, apply);
    for (const who of [admin, operator]) {
      const { code, message } = await kube.request('PATCH', applied, body, { ...apply, who });
      assert.ok(code === 200 || code === 201, `${who.user}: ${message}`);
    }
    await refused('PATCH', url, { data: { IDENTITY_REALM: 'borealis' } }, merge);
    await refused('DELETE', url);
    await refused('DELETE', `${own}/configmaps?fieldSelector=metadata.name%3D${name}`);
    assert.equal((await kube.request('DELETE', url, undefined, { who: operator })).code, 200);
  });

  test('chooses no trust domain and no realm', async () => {
    for (const [identity, says] of [
      [{ spiffe: { trustDomain: 'borealis.example' } }, /spec\.identity\.spiffe: .* leave it out/],
      [
        { clientRegistration: { provider: 'keycloak', keycloak: { realm: 'borealis' } } },
        /spec\.identity\.clientRegistration: .* leave it out/,
      ],
    ] as const) {
      const { code, message } = await create(`${api}/atlas/agentruntimes`, runtime('weather', identity));
      assert.equal(code, 403, message);
      assert.match(message, says);
    }
  });

  test('runs as many pods as the quota says, each with the requests that it counts', async () => {
    const post = () => create(`${own}/pods`, podOf());
    await eventually(async () => {
      const { code, message } = await post();
      return code === 201 ? undefined : message;
    });
    const none = { ...merge, who: admin };
    await kube.request('PATCH', `${own}/resourcequotas/quota`, { spec: { hard: { pods: '0' } } }, none);
    await eventually(async () => {
      const { code, message } = await post();
      return code === 403 && message.includes('exceeded quota') ? undefined : `answered ${code}: ${message}`;
    });
  });
});

test('a tenant’s namespace can be deleted: the policies do not hold its defaults back', async () => {
  assert.equal((await kube.request('DELETE', '/api/v1/namespaces/cumulus')).code, 200);
  await eventually(async () => {
    const code = await kube.status('/api/v1/namespaces/cumulus', admin);
    return code === 404 ? undefined : `still there (${code})`;
  });
});
