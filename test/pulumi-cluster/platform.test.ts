/** A platform team's stack and a team's, on a real node: from an empty cluster to agents that are Ready, and away again. */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { kinds } from '../../runtime/api/kinds.ts';
import type { Deployment } from '../../runtime/api/kubernetes.ts';
import { install } from '../../runtime/api/names.ts';
import { textOf, tracesIn } from '../../runtime/operator/traces.ts';
import { buildApp } from '../../stacks/app.ts';
import { readSettings } from '../../stacks/environments.ts';
import { manifestsOf } from '../../stacks/tree.ts';
import { canRunNode } from '../lab/up.ts';
import { agentImage, isReady, operatorImage, startNode } from '../node-cluster/node-bed.ts';
import { eventually } from '../support/engine-bed.ts';
import { carriedBy, nothingCarried } from '../support/enrolments.ts';
import { applyAll } from '../support/operator-platform.ts';
import { createNamespace, type Written } from '../support/workload-objects.ts';
import { startProject } from './project.ts';

const skip = !canRunNode() && 'a node needs root on Linux';

function platformSettings() {
  const settings = readSettings('local', { image: operatorImage });
  assert.ok('platform' in settings);
  return { ...settings.platform };
}

const weather = {
  image: agentImage,
  imagePullPolicy: 'Never',
  user: 1000,
  replicas: 1,
  env: { PORT: '8080' },
} as const;
const names = Array.from({ length: 19 }, (_, i) => `idle-${i + 1}`);
const fleet = { ...Object.fromEntries(names.map((name) => [name, { ...weather, replicas: 0 }])), weather };

const outside = {
  environment: 'test',
  agents: { platform: 'local', namespace: 'elsewhere', agents: { outside: weather } },
} as const;

describe('stacks on a node', { skip, timeout: 900_000 }, () => {
  let node: Awaited<ReturnType<typeof startNode>>;
  let project: Awaited<ReturnType<typeof startProject>>;
  before(async () => {
    node = await startNode();
    project = await startProject({ dir: node.folder, kubeconfig: node.kubeconfig, hasNodes: true });
  });
  after(() => node.stop());

  test('PU-01 PU-03: one up each, no change afterwards, and a destroy that ends by itself and leaves only what is not ours', async () => {
    const { client } = node;
    const platform = await project.stack('local', { platform: platformSettings() });
    const began = performance.now();
    await platform.run('up');
    const tookMs = performance.now() - began;
    const { status } = await client.get<Deployment>(kinds.deployment, {
      namespace: install.namespace,
      name: install.deployment,
    });
    assert.equal(status?.availableReplicas, 2, 'up ends when the platform is ready');
    process.stderr.write(`# from an empty cluster to a ready platform: ${(tookMs / 1000).toFixed(1)} s\n`);

    const team = await project.stack('team1', { agents: { platform: 'local', namespace: 'team1', agents: fleet } });
    await team.run('up');
    const deployments = await client.list<Deployment>(kinds.deployment, { namespace: 'team1' });
    assert.equal(deployments.items.length, 20);
    for (const each of deployments.items) {
      assert.notDeepEqual(carriedBy(each), nothingCarried, 'up ends when every agent is enrolled');
      assert.equal(each.status?.availableReplicas ?? 0, each.spec?.replicas, 'and rolled out');
    }
    await eventually(async () => {
      const { items } = await client.list(kinds.agentRuntime, { namespace: 'team1' });
      assert.deepEqual([...new Set(items.map(({ status: said }) => said?.phase))], ['Active']);
    }, 10_000);
    assert.deepEqual(await team.preview(), []);
    assert.deepEqual(Object.keys(await team.run('refresh')), ['unchanged']);
    assert.deepEqual(Object.keys(await platform.run('refresh')), ['unchanged']);
    assert.deepEqual([await platform.preview(), await team.preview()], [[], []]);

    // Five targets go, and somebody else has an agent of his own.
    for (const name of names.slice(0, 5)) await client.remove({ kind: kinds.deployment, namespace: 'team1', name });
    await createNamespace(client, 'elsewhere');
    await applyAll(client, manifestsOf(buildApp(outside)) as unknown as readonly Written[]);
    await eventually(async () => {
      const { status: said } = await client.get(kinds.agentRuntime, { namespace: 'elsewhere', name: 'outside' });
      assert.equal(said?.phase, 'Active');
    });

    const endBegan = performance.now();
    await team.run('destroy');
    assert.deepEqual((await client.list(kinds.agentRuntime, { namespace: 'team1' })).items, []);
    await platform.run('destroy');
    assert.ok(performance.now() - endBegan < 300_000, 'within five minutes');
    const { gates, operators, resources, networkPolicies } = await tracesIn(client, install.namespace);
    const left = [...gates, ...operators, ...resources, ...networkPolicies];
    assert.deepEqual(left.map(textOf), []);
    const crds = (await client.list(kinds.customResourceDefinition)).items.map(({ metadata }) => metadata.name ?? '');
    assert.deepEqual(
      crds.filter((name) => name.endsWith('.agent.rossoctl.dev')),
      [],
    );
    const kept = await client.get<Deployment>(kinds.deployment, { namespace: 'elsewhere', name: 'outside' });
    assert.deepEqual(carriedBy(kept), nothingCarried, 'it runs on, as its owner wrote it');
    await eventually(async () => {
      const { items } = await client.list(kinds.pod, { namespace: 'elsewhere' });
      assert.ok(items.some((pod) => isReady(pod)));
    });
  });
});
