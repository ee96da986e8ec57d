/** Images without a digest, wherever one can be written: in pods, in the operator, among what is injected. */

import assert from 'node:assert/strict';
import test from 'node:test';
import { ApiObject, type Chart } from 'cdk8s';
import * as kplus from 'cdk8s-plus-28';
import { Agent, AgentPlatform, RequireDigest, Tool } from '../../constructs/index.ts';
import { synthesized } from './synthesized.ts';

const digest = `sha256:${'0123456789abcdef'.repeat(4)}`;
const pinned = `registry.example/a@${digest}`;
const images = { envoyProxy: pinned, proxyInit: pinned, sidecar: pinned };

/** The message of a chart with the rule, or nothing where it is not refused. */
function refusal(build: (chart: Chart) => void): string | undefined {
  try {
    synthesized((chart) => {
      build(chart);
      chart.with(new RequireDigest());
    });
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message.replace(/^[^\n]*\n {2}/, '') : String(error);
  }
}

const object = (content: Readonly<Record<string, unknown>> & { readonly kind: string }) => (chart: Chart) => {
  new ApiObject(chart, 'mine', { apiVersion: 'v1', metadata: { name: 'x' }, ...content });
};
const podSpec = (spec: object) => object({ kind: 'Pod', spec: { containers: [], ...spec } });
const containers = (...list: readonly object[]) => podSpec({ containers: list });

const refused: readonly (readonly [what: string, build: (chart: Chart) => void, says: string])[] = [
  [
    'a tag',
    containers({ name: 'a', image: pinned }, { name: 'b', image: 'registry.example:5000/b:1' }),
    '[test/mine] Pod x, container b (spec.containers[1]): image "registry.example:5000/b:1" is not pinned by digest: write registry.example:5000/b@sha256:<64 hex digits>',
  ],
  [
    'nothing but a name',
    containers({ name: 'a', image: 'busybox' }),
    '[test/mine] Pod x, container a (spec.containers[0]): image "busybox" is not pinned by digest: write busybox@sha256:<64 hex digits>',
  ],
  [
    'a digest that is none',
    containers({ name: 'a', image: 'a:1@sha256:abc' }),
    '[test/mine] Pod x, container a (spec.containers[0]): image "a:1@sha256:abc" is not pinned by digest: write a@sha256:<64 hex digits>',
  ],
  [
    'no image',
    containers({ name: 'a' }),
    '[test/mine] Pod x, container a (spec.containers[0]): no image is given: write REGISTRY/NAME@sha256:<64 hex digits>',
  ],
  [
    'an init container',
    podSpec({ initContainers: [{ name: 'a', image: 'a:1' }] }),
    '[test/mine] Pod x, container a (spec.initContainers[0]): image "a:1" is not pinned by digest: write a@sha256:<64 hex digits>',
  ],
  [
    'an image as a volume',
    podSpec({ volumes: [{ name: 'v' }, { name: 'a', image: { reference: 'a:1' } }] }),
    '[test/mine] Pod x, spec.volumes[1].image: image "a:1" is not pinned by digest: write a@sha256:<64 hex digits>',
  ],
  [
    'a CronJob',
    object({
      kind: 'CronJob',
      spec: { jobTemplate: { spec: { template: { spec: { containers: [{ name: 'a', image: 'a:1' }] } } } } },
    }),
    '[test/mine] CronJob x, container a (spec.jobTemplate.spec.template.spec.containers[0]): image "a:1" is not pinned by digest: write a@sha256:<64 hex digits>',
  ],
  [
    'a workload of cdk8s-plus',
    (chart) => {
      new kplus.DaemonSet(chart, 'set', { metadata: { name: 'x' }, containers: [{ image: 'a:1' }] });
    },
    '[test/set/Resource] DaemonSet x, container main (spec.template.spec.containers[0]): image "a:1" is not pinned by digest: write a@sha256:<64 hex digits>',
  ],
  [
    'an agent',
    (chart) => {
      new Agent(chart, 'weather', { image: 'a:1' });
    },
    '[test/weather/workload] Deployment weather, container agent (spec.template.spec.containers[0]): image "a:1" is not pinned by digest: write a@sha256:<64 hex digits>',
  ],
  [
    'the operator',
    (chart) => {
      new AgentPlatform(chart, 'p', { image: 'r.example/o:1', config: { images } });
    },
    '[test/p/operator/deployment] Deployment rossoctl-operator, container operator (spec.template.spec.containers[0]): image "r.example/o:1" is not pinned by digest: write r.example/o@sha256:<64 hex digits>',
  ],
  [
    'a sidecar that the platform injects',
    (chart) => {
      new AgentPlatform(chart, 'p', { image: pinned, config: { images: { ...images, sidecar: 'r.example/s:1' } } });
    },
    '[test/p/config/platform] ConfigMap rossoctl-platform-config, config.yaml, images.sidecar: image "r.example/s:1" is not pinned by digest: write r.example/s@sha256:<64 hex digits>',
  ],
  [
    'a sidecar that is left to the built-in default',
    (chart) => {
      new AgentPlatform(chart, 'p', { image: pinned, config: { images: { ...images, proxyInit: undefined } } });
    },
    '[test/p] config.images.proxyInit is not set, and the built-in image "ghcr.io/rossoctl/rossoctl-sidecar:0.1.0" is not pinned by digest: write ghcr.io/rossoctl/rossoctl-sidecar@sha256:<64 hex digits> in config.images.proxyInit',
  ],
];
for (const [what, build, says] of refused) {
  test(`refused: ${what}`, () => assert.equal(refusal(build), says));
}

test('without any configuration all three sidecars are refused', () => {
  const message = refusal((chart) => new AgentPlatform(chart, 'p', { image: pinned })) ?? '';
  assert.deepEqual(
    [...message.matchAll(/config\.images\.(\w+) is not set/g)].map(([, name]) => name),
    ['envoyProxy', 'proxyInit', 'sidecar'],
  );
});

test('what is pinned passes, also a platform whose configuration somebody else writes', () => {
  const message = refusal((chart) => {
    new AgentPlatform(chart, 'p', { image: pinned });
    const data = { 'config.yaml': JSON.stringify({ images }) };
    const metadata = { name: 'rossoctl-platform-config', namespace: 'rossoctl-system' };
    new ApiObject(chart, 'config', { apiVersion: 'v1', kind: 'ConfigMap', metadata, data });
    new Agent(chart, 'agent', { image: `a:1@${digest}`, namespace: 'team1' });
    new Tool(chart, 'tool', { image: pinned, namespace: 'team1', kind: 'StatefulSet' });
  });
  assert.equal(message, undefined);
});
