/** Workloads that need what is injected to become ready come up by one `up`, also of one step at a time, and go by themselves. */

import assert from 'node:assert/strict';
import { copyFileSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { Yaml } from 'cdk8s';
import { kinds } from '../../runtime/api/kinds.ts';
import type { Job } from '../../runtime/api/kubernetes.ts';
import { install } from '../../runtime/api/names.ts';
import { textOf, tracesIn } from '../../runtime/operator/traces.ts';
import { readSettings } from '../../stacks/environments.ts';
import { preparePulumi, providerVersion } from '../lab/pulumi/pulumi.ts';
import { canRunNode } from '../lab/up.ts';
import { agentImage, isReady, operatorImage, startNode } from '../node-cluster/node-bed.ts';
import { startProject } from './project.ts';

const source = path.join(import.meta.dirname, 'needy');
const skip = !canRunNode() && 'a node needs root on Linux';
/** A namespace each, so that neither waits for the other. */
const ways = [
  ['many', 'team1'],
  ['one', 'team2', '--parallel', '1'],
] as const;

describe('workloads that need their sidecars', { skip, timeout: 900_000, concurrency: true }, () => {
  let node: Awaited<ReturnType<typeof startNode>>;
  before(async () => {
    node = await startNode();
    const project = await startProject({ dir: node.folder, kubeconfig: node.kubeconfig, hasNodes: true });
    const settings = readSettings('local', { image: operatorImage });
    assert.ok('platform' in settings);
    const namespaces = ways.map(([, name]) => ({ name }));
    await (await project.stack('local', { platform: { ...settings.platform, namespaces } })).run('up');
  });
  after(() => node.stop());

  /** Runs the program, with a state of its own. */
  async function programOf(name: string, namespace: string) {
    const dir = path.join(node.folder, name);
    mkdirSync(dir);
    symlinkSync(path.join(source, 'main.ts'), path.join(dir, 'main.ts'));
    copyFileSync(path.join(source, 'Pulumi.yaml'), path.join(dir, 'Pulumi.yaml'));
    // Pulumi asks the project whether its program is an ES module.
    writeFileSync(path.join(dir, 'package.json'), '{"type":"module"}\n');
    const pulumi = await preparePulumi({ project: dir, dir, env: { KUBECONFIG: node.kubeconfig } });
    const say = async (...parameters: readonly string[]): Promise<string> => {
      const { code, out, err } = await pulumi.run(...parameters, '--stack', 'test');
      assert.equal(code, 0, `pulumi ${parameters.join(' ')}:\n${out}\n${err}`);
      return out;
    };
    await pulumi.run('stack', 'init', 'test');
    return {
      configure: (settings: { readonly release: string; readonly suspend: boolean }) => {
        const needy = { image: agentImage, namespace, providerVersion, ...settings };
        const ours = Object.entries(needy).map(([key, value]) => [`needy:${key}`, String(value)]);
        const config = { ...Object.fromEntries(ours), 'kubernetes:enableServerSideApply': 'true' };
        writeFileSync(path.join(dir, 'Pulumi.test.yaml'), Yaml.stringify({ config }));
      },
      up: (...flags: readonly string[]) => say('up', '--yes', '--skip-preview', ...flags),
      destroy: (...flags: readonly string[]) => say('destroy', '--yes', '--skip-preview', ...flags),
      preview: () => say('preview', '--expect-no-changes'),
    };
  }

  /** Agent → its pods that are ready with a sidecar, and those that are not. */
  async function pods(namespace: string, { app, release }: { readonly app: string; readonly release: string }) {
    const { items } = await node.client.list(kinds.pod, { namespace, labels: `app.kubernetes.io/name=${app}` });
    const running = items.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
    return running.map((pod) => {
      const { containers, initContainers = [] } = pod.spec ?? { containers: [] };
      const isInjected = [...containers, ...initContainers].some(({ name }) => name === 'envoy-proxy');
      const isOfRelease = containers.some(({ env = [] }) => env.some(({ value }) => value === release));
      return { isInjected, isOfRelease, isReady: isReady(pod) };
    });
  }

  const good = { isInjected: true, isOfRelease: true, isReady: true };

  for (const [name, namespace, ...flags] of ways) {
    test(`${name} at a time: up, a new release, a Job, destroy`, async () => {
      const program = await programOf(name, namespace);
      const assertRun = async (release: string): Promise<void> => {
        for (const app of ['asker', 'keeper']) assert.deepEqual(await pods(namespace, { app, release }), [good], app);
      };
      program.configure({ release: 'first', suspend: true });
      await program.up(...flags);
      await assertRun('first');
      const { items: runtimes } = await node.client.list(kinds.agentRuntime, { namespace });
      const names = runtimes.map(({ metadata }) => metadata.name ?? '');
      assert.deepEqual(names.toSorted(), ['asker', 'idle', 'keeper', 'once']);
      const { items: cards } = await node.client.list(kinds.agentCard, { namespace });
      assert.ok(cards.some(({ metadata }) => metadata.name === 'asker-deployment-card'));
      await program.preview();

      program.configure({ release: 'second', suspend: false });
      await program.up(...flags);
      await assertRun('second');
      const job = await node.client.get<Job>(kinds.job, { namespace, name: 'once' });
      assert.equal(job.status?.succeeded, 1, 'up ends when the Job has done its work');
      await program.preview();

      await program.destroy(...flags);
      const { gates, resources } = await tracesIn(node.client, install.namespace);
      assert.ok(gates.length > 0, 'the platform stays');
      const left = resources.filter((resource) => resource.namespace === namespace);
      assert.deepEqual(left.map(textOf), []);
    });
  }
});
