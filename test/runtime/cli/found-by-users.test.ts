/** What users ran into with real manifests: meshes, odd characters, hand-written owners, unreadable input. */

import assert from 'node:assert/strict';
import test from 'node:test';
import { parse } from 'yaml';
import { configMap, inject, podYaml, r0Yaml, stream } from './run-cli.ts';

interface PodLike {
  readonly metadata: { readonly annotations?: Readonly<Record<string, string>> };
  readonly spec: {
    readonly initContainers?: readonly {
      readonly name: string;
      readonly env?: readonly { readonly name: string; readonly value?: string }[];
    }[];
  };
}

const withContainers = (containers: string) =>
  podYaml.replace(/ {2}containers:\n[\s\S]*$/, `  containers:\n${containers}`);
const agent = '  - {name: agent, image: "example.test/weather:1", ports: [{containerPort: 8080}]}\n';
const envOf = (out: string, name: string) =>
  (parse(out) as PodLike).spec.initContainers
    ?.find((each) => each.name === 'envoy-proxy')
    ?.env?.find((each) => each.name === name)?.value;

test('a pod with Istio’s sidecar is injected, with a warning that names the shared user', async () => {
  const istio = '  - {name: istio-proxy, image: istio, securityContext: {runAsUser: 1337}}\n';
  const { code, err } = await inject(stream(withContainers(agent + istio), r0Yaml));
  assert.equal(code, 0, err);
  assert.match(err, /warning: container istio-proxy runs as user 1337 like the proxy/);
});

test('any other container with the proxy’s user is denied, and both ways out are named', async () => {
  const own = agent.replace('ports:', 'securityContext: {runAsUser: 1337}, ports:');
  const { code, err } = await inject(stream(withContainers(own), r0Yaml));
  assert.equal(code, 1);
  assert.match(err, /ProxyUidTaken.*another runAsUser, or another proxy\.uid/);
});

for (const char of ['\u0007', '\u007f', '\u0085', '\u009f', '\u2028', '\u2029', '\ufeff', '\ufffe', '\uffff']) {
  const shown = `U+${char.charCodeAt(0).toString(16).padStart(4, '0')}`;
  test(`PM-05 an annotation with ${shown} survives YAML output, escaped`, async () => {
    const value = `a${char}b: c`;
    const pod = podYaml.replace(
      'metadata:',
      `metadata:\n  annotations: {note: ${JSON.stringify(value).replaceAll(char, `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)}}`,
    );
    const { code, out, err } = await inject(stream(pod, r0Yaml));
    assert.equal(code, 0, err);
    assert.ok(!out.includes(char), 'the raw character is in the output');
    assert.equal((parse(out) as PodLike).metadata.annotations?.['note'], value);
  });
}

test('PM-04 a PORT made of another variable is a port in use', async () => {
  const own = agent.replace('ports:', 'env: [{name: X, value: "15123"}, {name: PORT, value: "$(X)"}], ports:');
  const { code, out } = await inject(stream(withContainers(own), r0Yaml));
  assert.equal(code, 0);
  assert.notEqual(envOf(out, 'OUTBOUND_PORT'), '15123');
});

test('PM-16 a sole owner that does not say it controls is the owner', async () => {
  const pod = podYaml
    .replace(/ {2}generateName: .*\n/, '  name: weather-0\n')
    .replace(
      / {2}- \{apiVersion: apps\/v1, kind: ReplicaSet.*\n/,
      '  - {apiVersion: apps/v1, kind: Deployment, name: weather-agent, uid: u1}\n',
    );
  const { err } = await inject(stream(pod, r0Yaml));
  assert.match(err, /injected \(Injected\)/);
});

test('an injected pod whose AgentRuntime is gone is left alone, without a false warning', async () => {
  const { out } = await inject(stream(podYaml, r0Yaml));
  const { code, err } = await inject(out);
  assert.equal(code, 0);
  assert.match(err, /AlreadyInjected/);
  assert.doesNotMatch(err, /warning/);
});

test('a Pod Security level that Kubernetes does not know counts as restricted', async () => {
  const namespace =
    'apiVersion: v1\nkind: Namespace\nmetadata: {name: team1, labels: {pod-security.kubernetes.io/enforce: Restricted}}\n';
  const { code, err } = await inject(stream(podYaml, r0Yaml, namespace));
  assert.equal(code, 1);
  assert.match(err, /PodSecurityConflict/);
});

const unreadable: readonly (readonly [what: string, input: string, words: RegExp, flags?: readonly string[]])[] = [
  ['metadata that is text', 'apiVersion: v1\nkind: Pod\nmetadata: x\n', /metadata must be a map/],
  ['a kind that is a number', 'apiVersion: v1\nkind: 5\n', /kind must be text, not 5/],
  ['a list whose items are text', 'apiVersion: v1\nkind: List\nitems: x\n', /List: items must be a list, not "x"/],
  ['a namespace flag that is no name', podYaml, /--namespace: "Bad_NS" is no name of a namespace/, ['-n', 'Bad_NS']],
  [
    'a target name with a bad character',
    r0Yaml.replace('weather-agent', 'Weather_Agent'),
    /targetRef\.name: "Weather_Agent" is not allowed; must be text: Name of the workload, .*, for example weather/,
  ],
];
for (const [what, input, words, flags = []] of unreadable) {
  test(`exit 2 and a sentence: ${what}`, async () => {
    const { code, out, err } = await inject(stream(input, configMap('team1', 'other', {})), ...flags);
    assert.equal(code, 2, err);
    assert.equal(out, '');
    assert.match(err, words);
  });
}
