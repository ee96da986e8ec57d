/** A team's stack and the platform that it refers to may be of different releases. */

import assert from 'node:assert/strict';
import test, { before } from 'node:test';
import { runtime } from '@pulumi/pulumi';
import { App, Chart } from 'cdk8s';
import { Agent } from '../../constructs/index.ts';
import { KubernetesApp } from '../../stacks/kubernetes-app.ts';
import { platformFacts } from '../../stacks/platform-facts.ts';
import { referencedPlatform } from '../../stacks/referenced-platform.ts';

const facts = platformFacts('dev', { image: 'i' });
const { injects: _, ...withoutInjects } = facts;
const newer = { ...facts, since: '9.9.9', injects: { ...facts.injects, job: true } };
const outputs: Readonly<Record<string, unknown>> = { same: facts, newer, older: withoutInjects };
before(() =>
  runtime.setMocks(
    {
      newResource: ({ name, inputs }) => ({ id: name, state: inputs as object }),
      call: ({ inputs }) => ({
        outputs: { platform: outputs[(inputs as { name: string }).name.split('/').at(-1) ?? ''] },
      }),
    },
    'rossoctl',
    'dev-team1',
    false,
    'acme',
  ),
);

for (const stack of Object.keys(outputs)) {
  test(`agents are installed on a platform whose facts are of the ${stack} release`, async () => {
    const chart = new Chart(new App(), 'agents', { namespace: 'team1' });
    new Agent(chart, 'weather', { image: 'example.test/weather:1' });
    const { injects } = await referencedPlatform(stack);
    assert.doesNotThrow(() => new KubernetesApp(`on-${stack}`, { app: App.of(chart), injects }));
  });
}
