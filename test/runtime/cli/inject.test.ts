/** `rossoctl inject`: subjects and state, output and exit codes, and what is refused with which words. */

import assert from 'node:assert/strict';
import test from 'node:test';
import jsonpatch from 'fast-json-patch';
import { parse } from 'yaml';
import type { Container, Pod } from '../../../runtime/api/kubernetes.ts';
import { configMap, defaults, deploymentYaml, gates, inject, platform, podYaml, r0Yaml, stream } from './run-cli.ts';

const pod = parse(podYaml) as Pod;
const r0 = parse(r0Yaml) as object;
const names = (containers: readonly Container[] = []) => containers.map(({ name }) => name);

function review(object: unknown = pod, request: object = {}): object {
  return {
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    request: {
      uid: 'r-1',
      kind: { group: '', version: 'v1', kind: 'Pod' },
      operation: 'CREATE',
      namespace: 'team1',
      object,
      ...request,
    },
  };
}

interface Response {
  readonly response: {
    readonly uid: string;
    readonly allowed: boolean;
    readonly patch?: string;
    readonly warnings?: readonly string[];
    readonly status?: { readonly message: string };
  };
}

test('a Pod: the mutated Pod and nothing else on standard output, one line on standard error', async () => {
  const { code, out, err } = await inject(stream(r0Yaml, podYaml));
  assert.equal(code, 0);
  const injected = parse(out) as Pod;
  assert.deepEqual(names(injected.spec.initContainers), ['proxy-init', 'envoy-proxy']);
  assert.deepEqual(injected.spec.containers, pod.spec.containers);
  assert.equal(err.trim().split('\n').length, 1);
  assert.match(err, /Pod team1\/weather-agent-7d9f8c6b5-\*: injected \(Injected\)/);
});

test('PM-03 PM-05 an AdmissionReview: its response; the patch applies, and its result needs none', async () => {
  const {
    metadata: { namespace: _, ...metadata },
  } = pod;
  const bare = { ...pod, metadata };
  const { code, out } = await inject(stream(r0Yaml, JSON.stringify(review(bare))));
  assert.equal(code, 0);
  const { response } = parse(out) as Response;
  assert.deepEqual([response.uid, response.allowed], ['r-1', true]);
  const operations = JSON.parse(Buffer.from(response.patch ?? '', 'base64').toString()) as never;
  const p1 = jsonpatch.applyPatch(structuredClone(bare), operations, true).newDocument as Pod;
  assert.deepEqual(names(p1.spec.initContainers), ['proxy-init', 'envoy-proxy']);
  const again = parse((await inject(stream(r0Yaml, JSON.stringify(review(p1))))).out) as Response;
  assert.deepEqual([again.response.allowed, again.response.patch], [true, undefined]);
});

test('a denied AdmissionReview is answered, exit code 1', async () => {
  const { code, out, err } = await inject(stream(r0Yaml, gates('globalEnabled: "false"\n'), JSON.stringify(review())));
  assert.equal(code, 1);
  const { response } = parse(out) as Response;
  assert.equal(response.allowed, false);
  assert.match(response.status?.message ?? '', /rossoctl-feature-gates.*globalEnabled/);
  assert.match(err, /denied \(ConfigInvalid\)/);
});

test('a review of something that is no Pod is allowed; one that is no review is unreadable', async () => {
  const other = await inject(
    JSON.stringify(review(undefined, { kind: { group: 'apps', version: 'v1', kind: 'Deployment' } })),
  );
  assert.equal((JSON.parse(other.out) as Response).response.allowed, true);
  assert.equal(other.code, 0);
  const broken = await inject('{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview"}');
  assert.equal(broken.code, 2);
  assert.match(broken.err, /document 1 \(line 1\): the AdmissionReview has no request/);
});

test('PM-02 a review whose object has neither name nor generateName', async () => {
  const object = { ...pod, metadata: { labels: pod.metadata.labels } };
  const { code, out, err } = await inject(stream(r0Yaml, JSON.stringify(review(object))));
  assert.equal(code, 0);
  assert.match((parse(out) as Response).response.warnings?.join() ?? '', /no AgentRuntime/);
  assert.match(err, /team1\/\(no name\): not injected \(NoAgentRuntime\)/);
});

test('a Deployment alone is enrolled and its template injected; what it had stays', async () => {
  const { code, out } = await inject(stream(deploymentYaml, r0Yaml));
  assert.equal(code, 0);
  const { metadata, spec } = parse(out) as { metadata: Pod['metadata']; spec: { replicas: number; template: Pod } };
  assert.deepEqual(metadata.labels, {
    'rossoctl.io/type': 'agent',
    'app.kubernetes.io/managed-by': 'rossoctl-operator',
  });
  assert.equal(spec.replicas, 2);
  assert.deepEqual(Object.keys(spec.template.metadata), ['labels', 'annotations']);
  assert.equal(spec.template.metadata.labels?.['rossoctl.io/type'], 'agent');
  assert.match(spec.template.metadata.annotations?.['rossoctl.io/config-hash'] ?? '', /^[0-9a-f]{64}$/);
  assert.deepEqual(names(spec.template.spec.initContainers), ['proxy-init', 'envoy-proxy']);
});

test('GO-02 managed-by of another is left alone', async () => {
  const helm = deploymentYaml.replace(
    'namespace: team1',
    'namespace: team1, labels: {app.kubernetes.io/managed-by: Helm}',
  );
  const { out } = await inject(stream(helm, r0Yaml));
  assert.equal((parse(out) as Pod).metadata.labels?.['app.kubernetes.io/managed-by'], 'Helm');
});

test('a workload that no AgentRuntime targets is printed unchanged, with the reason', async () => {
  const { code, out, err } = await inject(deploymentYaml);
  assert.equal(code, 0);
  assert.deepEqual(parse(out), parse(deploymentYaml));
  assert.match(err, /no AgentRuntime among the documents targets Deployment team1\/weather-agent/);
});

const templated = (apiVersion: string, kind: string, spec: object) =>
  JSON.stringify({ apiVersion, kind, metadata: { name: 'weather-agent', namespace: 'team1' }, spec });
const template = (parse(deploymentYaml) as { spec: { template: object } }).spec.template;
const kinds: readonly (readonly [string, string, object])[] = [
  ['apps/v1', 'StatefulSet', { template }],
  ['apps/v1', 'DaemonSet', { template }],
  ['batch/v1', 'Job', { suspend: true, template }],
  ['batch/v1', 'CronJob', { schedule: '* * * * *', jobTemplate: { spec: { template } } }],
];
for (const [apiVersion, kind, spec] of kinds) {
  test(`a ${kind} is enrolled and injected`, async () => {
    const runtime = JSON.stringify({
      ...r0,
      spec: { type: 'agent', targetRef: { apiVersion, kind, name: 'weather-agent' } },
    });
    const { code, out, err } = await inject(`${templated(apiVersion, kind, spec)}\n${runtime}`);
    assert.equal(code, 0, err);
    assert.match(out, /"envoy-proxy"/);
    assert.match(err, new RegExp(`${kind} team1/weather-agent: injected`));
  });
}

test('a Job that may run already cannot be labelled: unchanged, with what to do', async () => {
  const runtime = JSON.stringify({
    ...r0,
    spec: { type: 'agent', targetRef: { apiVersion: 'batch/v1', kind: 'Job', name: 'weather-agent' } },
  });
  const { code, err } = await inject(`${templated('batch/v1', 'Job', { template })}${runtime}`);
  assert.equal(code, 0);
  assert.match(err, /TargetImmutable.*suspend: true/);
});

test('PM-16 a ReplicaSet among the documents names its Deployment', async () => {
  const owner = '{apiVersion: apps/v1, kind: Deployment, name: weather, uid: d, controller: true}';
  const replicaSet = `apiVersion: apps/v1\nkind: ReplicaSet\nmetadata: {name: weather-agent-7d9f8c6b5, namespace: team1, ownerReferences: [${owner}]}\n`;
  const forWeather = r0Yaml.replace('name: weather-agent}', 'name: weather}');
  assert.match((await inject(stream(podYaml, replicaSet, forWeather))).err, /: injected/);
  assert.match((await inject(stream(podYaml, replicaSet, r0Yaml))).err, /NoAgentRuntime.*Deployment team1\/weather:/);
});

test('several subjects: a List; one denied makes the exit code 1 and leaves the others', async () => {
  const host = podYaml.replace('spec:\n', 'spec:\n  hostNetwork: true\n');
  const both = await inject(stream(r0Yaml, podYaml, podYaml));
  const list = parse(both.out) as { kind: string; apiVersion: string; items: readonly Pod[] };
  assert.deepEqual([both.code, list.apiVersion, list.kind, list.items.length], [0, 'v1', 'List', 2]);
  const one = await inject(stream(r0Yaml, podYaml, host));
  assert.equal(one.code, 1);
  assert.equal((parse(one.out) as { items: readonly Pod[] }).items.length, 1);
  assert.match(one.err, /denied \(HostNetworkConflict\).*proxy-sidecar/);
});

test('a denied Pod alone prints nothing', async () => {
  const { code, out } = await inject(stream(r0Yaml, podYaml.replace('spec:\n', 'spec:\n  hostNetwork: true\n')));
  assert.deepEqual([code, out], [1, '']);
});

test('layers: namespace over platform, AgentRuntime over both, each value with its origin', async () => {
  const documents = [
    platform('trace: {endpoint: "p:1", protocol: http}\nmtls: {mode: disabled}\n'),
    defaults('trace: {endpoint: "n:1"}\n'),
    gates('perWorkloadConfigResolution: true\n'),
  ];
  const runtime = `${r0Yaml}  mtlsMode: permissive\n`;
  const { code, out, err } = await inject(stream(runtime, podYaml, ...documents), '--explain');
  assert.equal(code, 0);
  assert.match(out, /value: http:\/\/n:1/);
  assert.match(err, /value trace.endpoint = "n:1".*team1\/defaults/);
  assert.match(err, /value trace.protocol = "http".*rossoctl-platform-config/);
  assert.match(err, /value mtls.mode = "permissive".*AgentRuntime team1\/weather/);
  assert.match(err, /step AgentRuntime: passed/);
  assert.match(err, /container spiffe-helper: no: /);
});

test('an invalid ConfigMap denies with its name, key, line and path', async () => {
  const { code, out, err } = await inject(
    stream(r0Yaml, podYaml, defaults('mtls:\n  mode: strict\ntrce:\n  endpoint: x\n')),
  );
  assert.deepEqual([code, out], [1, '']);
  assert.match(err, /ConfigMap team1\/defaults, key config.yaml: line 3: trce: unknown key; did you mean trace/);
});

test('PM-09 Namespace labels count; --operator-namespace moves the platform ConfigMaps', async () => {
  const namespace =
    'apiVersion: v1\nkind: Namespace\nmetadata: {name: team1, labels: {pod-security.kubernetes.io/enforce: restricted}}\n';
  const { code, err } = await inject(stream(namespace, r0Yaml, podYaml));
  assert.equal(code, 1);
  assert.match(err, /PodSecurityConflict/);
  const off = configMap('ops', 'rossoctl-feature-gates', { 'feature-gates.yaml': 'globalEnabled: false\n' });
  assert.match((await inject(stream(r0Yaml, podYaml, off), '--operator-namespace', 'ops')).err, /InjectionOff/);
});

test('the cluster as the flags describe it', async () => {
  const without = await inject(stream(r0Yaml, podYaml), '--no-csi-driver');
  assert.match(without.err, /warning: SpiffeUnavailable: the pod runs without a SPIFFE identity/);
  assert.equal(without.code, 0);
  const old = parse((await inject(stream(r0Yaml, podYaml), '--server-version', '1.28')).out) as Pod;
  assert.deepEqual(names(old.spec.containers), ['agent', 'envoy-proxy']);
});

test('-n places documents that state no namespace', async () => {
  const bare = (text: string) => text.replace(', namespace: team1', '').replace('  namespace: team1\n', '');
  const { err, out } = await inject(stream(bare(r0Yaml), bare(podYaml)), '-n', 'team9');
  assert.match(err, /Pod team9\/weather.*: injected/);
  assert.equal((parse(out) as Pod).metadata.namespace, undefined);
});

test('PM-03 by the command line: for each combination of gates the output is printed again as it is', async () => {
  for (const bits of [0, 1, 2, 3, 4, 5, 6, 7]) {
    const on = (bit: number) => (bits & bit) > 0;
    const text = `envoyProxy: ${on(1)}\nspiffeHelper: ${on(2)}\nclientRegistration: ${on(4)}\n`;
    const first = await inject(stream(r0Yaml, podYaml, gates(text)));
    assert.equal(first.code, 0, first.err);
    assert.equal(first.err.includes('(Injected)'), bits % 4 > 0, text);
    const second = await inject(stream(r0Yaml, first.out, gates(text)));
    assert.equal(second.out, first.out);
  }
});

test('clientRegistration is a gate and a section of the configuration, each in its own ConfigMap', async () => {
  const given = [gates('clientRegistration: true\n'), platform('clientRegistration: {mode: sidecar}\n')];
  assert.match((await inject(stream(r0Yaml, podYaml, ...given))).err, /envoy-proxy, client-registration/);
  assert.equal((await inject(stream(r0Yaml, podYaml, platform('clientRegistration: true\n')))).code, 1);
  assert.equal((await inject(stream(r0Yaml, podYaml, gates('clientRegistration: {mode: sidecar}\n')))).code, 1);
});
