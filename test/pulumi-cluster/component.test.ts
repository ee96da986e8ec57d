/** The example of a component: two teams' programs, run by the real CLI against a platform's stack that tells them what it watches. */

import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { Yaml } from 'cdk8s';
import { kinds } from '../../runtime/api/kinds.ts';
import { webhookConfigurations } from '../../runtime/api/names.ts';
import { preparePulumi } from '../lab/pulumi/pulumi.ts';
import { startPulumiBed } from './bed.ts';

const example = path.resolve(import.meta.dirname, '../../examples/component');

let bed: Awaited<ReturnType<typeof startPulumiBed>>;
before(async () => {
  bed = await startPulumiBed('component');
  const namespaces = [{ name: 'team1' }, { name: 'team2' }];
  const platform = { image: 'example.test/rossoctl:1', mode: 'namespaced', namespaces };
  const stack = await bed.stack('dev', { platform });
  await stack.run('up');
  // No operator runs here, so nobody would answer.
  const { mutatingWebhookConfiguration, validatingWebhookConfiguration } = kinds;
  await bed.client.remove({ kind: mutatingWebhookConfiguration, name: webhookConfigurations.injector });
  await bed.client.remove({ kind: validatingWebhookConfiguration, name: webhookConfigurations.validator });
});
after(() => bed.stop());

interface Kubeconfig {
  readonly contexts: readonly { readonly name: string; readonly context: object }[];
  readonly clusters: readonly object[];
}

/** A kubeconfig of which only the context of this name leads to the cluster; the current one leads nowhere. */
function elsewhereBut(name = ''): string {
  const { contexts, clusters, ...rest } = JSON.parse(readFileSync(bed.plane.kubeconfigPath, 'utf8')) as Kubeconfig;
  const [{ context } = { context: {} }] = contexts;
  const nowhere = { name: 'nowhere', cluster: { server: 'https://127.0.0.1:1' } };
  return JSON.stringify({
    ...rest,
    'current-context': 'elsewhere',
    contexts: [
      { name, context },
      { name: 'elsewhere', context: { ...context, cluster: 'nowhere' } },
    ],
    clusters: [...clusters, nowhere],
  });
}

/** A team's program with a state that it shares with the platform's, as the stacks of one organization do; settings are the test's. */
async function projectOf(team: string) {
  const { dir } = bed.plane;
  const project = path.join(dir, team);
  mkdirSync(project);
  symlinkSync(path.join(example, team, 'main.ts'), path.join(project, 'main.ts'));
  writeFileSync(path.join(project, 'Pulumi.yaml'), readFileSync(path.join(example, team, 'Pulumi.yaml')));
  // Pulumi asks the project whether its program is an ES module.
  writeFileSync(path.join(project, 'package.json'), '{"type":"module"}\n');
  const settings = Yaml.load(path.join(example, team, 'Pulumi.dev.yaml')) as readonly {
    readonly config: Readonly<Record<string, string>>;
  }[];
  const documented = settings[0]?.config ?? {};
  const env = { PULUMI_BACKEND_URL: `file://${path.join(dir, 'pulumi-state')}` };
  const pulumi = await preparePulumi({ project, dir: project, env });
  const say = async (...parameters: readonly string[]): Promise<string> => {
    const { code, out, err } = await pulumi.run(...parameters);
    if (code !== 0) throw new Error(`pulumi ${parameters.join(' ')} ended with ${code}:\n${out}\n${err}`);
    return out;
  };
  await say('stack', 'init', 'dev');
  const kubeconfig = path.join(project, 'kubeconfig');
  writeFileSync(kubeconfig, elsewhereBut(documented['kubernetes:context']));
  const config = { ...documented, 'kubernetes:kubeconfig': kubeconfig, [`${team}:await`]: 'false' };
  writeFileSync(path.join(project, 'Pulumi.dev.yaml'), Yaml.stringify({ config }));
  return {
    say,
    /** Type and name of what `up` would change. */
    preview: async (): Promise<readonly string[]> => {
      const out = await say('preview', '--stack', 'dev', '--json');
      const { steps } = JSON.parse(out.slice(out.indexOf('{'))) as {
        readonly steps: readonly { readonly op: string; readonly urn: string }[];
      };
      return steps.filter(({ op }) => !['same', 'read'].includes(op)).map(({ op, urn }) => `${op} ${urn}`);
    },
  };
}

const teams = {
  team1: { weather: 'http://weather.team1.svc:8080', maps: 'http://maps.team1.svc:9000' },
  team2: { billing: 'http://billing.team2.svc:8080' },
};

for (const [team, endpoints] of Object.entries(teams)) {
  test(`${team}: a preview, one up, no change afterwards, and an end`, { timeout: 600_000 }, async () => {
    const agents = Object.keys(endpoints).sort();
    const { say, preview } = await projectOf(team);
    const planned = await preview();
    assert.ok(planned.every((step) => step.startsWith('create ')));
    const objects = planned.filter((step) => step.includes(`::${team}/`));
    assert.equal(objects.length, 5 * agents.length, objects.join('\n'));

    await say('up', '--stack', 'dev', '--yes', '--skip-preview');
    const namesOf = async () => {
      const { items } = await bed.client.list(kinds.agentRuntime, { namespace: team });
      return items.map(({ metadata }) => metadata.name ?? '').sort();
    };
    assert.deepEqual(await namesOf(), agents);
    assert.deepEqual(JSON.parse(await say('stack', 'output', '--stack', 'dev', '--json')), { endpoints });
    assert.deepEqual(await preview(), []);

    await say('destroy', '--stack', 'dev', '--yes', '--skip-preview');
    assert.deepEqual(await namesOf(), []);
  });
}
