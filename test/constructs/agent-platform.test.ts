/** AgentPlatform: what an install is made of, and that its names and selectors come from nowhere but its props. */

import assert from 'node:assert/strict';
import test from 'node:test';
import { App, Chart } from 'cdk8s';
import { Construct } from 'constructs';
import { celString } from '../../constructs/cel.ts';
import { AgentPlatform } from '../../constructs/index.ts';
import { one, platform, type Synthesized, synthesized } from './synthesized.ts';

const container = (objects: readonly Synthesized[]) => one(objects, 'Deployment')['spec'].template.spec.containers[0];

test('CS-02 names and selectors survive another chart id and a level of nesting', () => {
  const deeper = (id: string, depth: number): readonly Synthesized[] => {
    const chart = new Chart(new App(), id);
    let scope: Construct = chart;
    for (let level = 0; level < depth; level++) scope = new Construct(scope, `level-${level}`);
    const made = new AgentPlatform(scope, `platform-of-${id}`, {
      image: 'i',
      watch: { kind: 'namespaced', namespaces: ['team1'] },
      config: { spiffe: { trustDomain: 'x.example' } },
      featureGates: { injectTools: true },
    });
    made.watchNamespace('team2');
    return chart.toJson() as readonly Synthesized[];
  };
  const key = ({ kind, metadata }: Synthesized) => `${kind}/${metadata.namespace ?? ''}/${metadata.name}`;
  const sorted = (objects: readonly Synthesized[]) => [...objects].sort((a, b) => (key(a) < key(b) ? -1 : 1));
  assert.deepEqual(sorted(deeper('one', 0)), sorted(deeper('quite-another', 3)));
});

test('CS-02 a namespace on the chart moves no object', () => {
  const build = (chart: Chart) => new AgentPlatform(chart, 'rossoctl', { image: 'i' });
  assert.deepEqual(synthesized(build, { namespace: 'elsewhere' }), synthesized(build));
});

test('namespace, account and Deployment can be named, and everything follows', () => {
  const objects = platform({ namespace: 'agents-op', serviceAccountName: 'op', deploymentName: 'boss', config: {} });
  const namespaced = objects.filter(({ metadata }) => metadata.namespace !== undefined);
  assert.deepEqual([...new Set(namespaced.map(({ metadata }) => metadata.namespace))], ['agents-op']);
  assert.equal(one(objects, 'Namespace').metadata.name, 'agents-op');
  assert.equal(one(objects, 'Deployment').metadata.name, 'boss');
  assert.equal(one(objects, 'Deployment')['spec'].template.spec.serviceAccountName, 'op');
  for (const binding of objects.filter(({ kind }) => kind.endsWith('RoleBinding'))) {
    assert.deepEqual(binding['subjects'], [{ kind: 'ServiceAccount', name: 'op', namespace: 'agents-op' }]);
  }
  const policies = objects.filter(({ kind }) => kind === 'ValidatingAdmissionPolicy');
  assert.equal(policies.length, 2);
  for (const policy of policies) {
    const conditions: readonly { name: string; expression: string }[] = policy['spec'].matchConditions;
    const exempt = conditions.find(({ name }) => name === 'is-not-the-operator');
    assert.match(exempt?.expression ?? '', /"system:serviceaccount:agents-op:op"/);
  }
  for (const kind of ['MutatingWebhookConfiguration', 'ValidatingWebhookConfiguration']) {
    assert.equal(one(objects, kind)['webhooks'][0].clientConfig.service.namespace, 'agents-op');
  }
});

test('the operator passes Pod Security restricted and asks for the measured memory', () => {
  const objects = platform();
  const pod = one(objects, 'Deployment')['spec'].template.spec;
  assert.equal(pod.securityContext.runAsNonRoot, true);
  assert.equal(pod.securityContext.seccompProfile.type, 'RuntimeDefault');
  assert.deepEqual(container(objects).securityContext, {
    allowPrivilegeEscalation: false,
    capabilities: { drop: ['ALL'] },
    readOnlyRootFilesystem: true,
  });
  assert.equal(container(objects).resources.requests.memory, '128Mi');
  assert.equal(container(objects).resources.limits.memory, '256Mi');
});

test('Service and budget select the pods of the Deployment', () => {
  const objects = platform();
  const labels = one(objects, 'Deployment')['spec'].template.metadata.labels;
  for (const selector of [
    one(objects, 'Service')['spec'].selector,
    one(objects, 'PodDisruptionBudget')['spec'].selector.matchLabels,
    one(objects, 'Deployment')['spec'].selector.matchLabels,
  ]) {
    for (const [key, value] of Object.entries(selector)) assert.equal(labels[key], value);
  }
});

test('flags are those that were asked for', () => {
  assert.deepEqual(container(platform()).args, []);
  const objects = platform({ logLevel: 'debug', apiRequests: { qps: 50, burst: 80 } });
  assert.deepEqual(container(objects).args, ['--log-level=debug', '--kube-api-qps=50', '--kube-api-burst=80']);
});

test('RB-01 namespaced mode lists its namespaces, sorted and once', () => {
  const objects = platform({ watch: { kind: 'namespaced', namespaces: ['team2', 'team1', 'team2'] } }, (made) => {
    made.watchNamespace('team3');
    made.watchNamespace('team1');
    assert.deepEqual(made.watchedNamespaces, ['team1', 'team2', 'team3']);
  });
  const env: readonly { name: string; value?: string }[] = container(objects).env;
  assert.equal(env.find(({ name }) => name === 'NAMESPACES2WATCH')?.value, 'team1,team2,team3');
  assert.equal(
    platform().some((object) => JSON.stringify(object).includes('NAMESPACES2WATCH')),
    false,
  );
});

test('CF-03 configuration is not mounted beside being watched: one edit is one change', () => {
  assert.doesNotMatch(JSON.stringify(one(platform(), 'Deployment')), /volume/i);
});

test('cert-manager makes the certificate: mounted, trusted by annotation, told to the operator', () => {
  const objects = platform({ certificates: 'cert-manager' });
  const made = (kind: string, name: string) => one(objects, kind, name)['spec'];
  const leaf = made('Certificate', 'rossoctl-webhook');
  assert.deepEqual(leaf.dnsNames, [
    'rossoctl-webhook.rossoctl-system.svc',
    'rossoctl-webhook.rossoctl-system.svc.cluster.local',
  ]);
  // A renewed leaf has the same authority, and that the same key: what the API server trusts stays.
  assert.deepEqual(leaf.issuerRef, { kind: 'Issuer', name: 'rossoctl-authority' });
  assert.deepEqual(made('Issuer', 'rossoctl-authority'), { ca: { secretName: 'rossoctl-authority' } });
  const { isCA, secretName, issuerRef, privateKey } = made('Certificate', 'rossoctl-authority');
  assert.deepEqual([isCA, secretName, privateKey.rotationPolicy], [true, 'rossoctl-authority', 'Never']);
  assert.deepEqual(made('Issuer', issuerRef.name), { selfSigned: {} });
  assert.deepEqual(container(objects).args, ['--certificates=files']);
  assert.ok(
    container(objects).volumeMounts.some(
      (mount: { mountPath: string }) => mount.mountPath === '/etc/rossoctl/certificate',
    ),
  );
  for (const kind of ['MutatingWebhookConfiguration', 'ValidatingWebhookConfiguration']) {
    const { annotations } = one(objects, kind).metadata;
    assert.equal(annotations?.['cert-manager.io/inject-ca-from'], 'rossoctl-system/rossoctl-webhook');
  }
});

test('no name can leave its place in an expression of a policy', () => {
  const policy = one(platform({ serviceAccountName: 'op.x' }), 'ValidatingAdmissionPolicy', 'agent-label-protection');
  const [, operator] = policy['spec'].matchConditions;
  assert.equal(operator.expression, 'request.userInfo.username != "system:serviceaccount:rossoctl-system:op.x"');
  assert.equal(celString('a" || true || "\\'), '"a\\" || true || \\"\\\\"');
});

test('GO-02 nothing the platform installs says who manages it', () => {
  for (const object of platform({ config: {}, featureGates: {}, certificates: 'cert-manager' })) {
    assert.equal(object.metadata.labels?.['app.kubernetes.io/managed-by'], undefined);
    assert.equal(object.metadata.labels?.['app.kubernetes.io/part-of'], 'rossoctl');
  }
});

test('the operator holds nothing of SPIRE or Keycloak: its one volume is its certificate, and no variable is of a Secret', () => {
  const everyPart = { verification: { requireSignature: true }, networkPolicies: { enforce: true } } as const;
  for (const certificates of ['self-managed', 'cert-manager'] as const) {
    const { spec } = one(platform({ ...everyPart, certificates }), 'Deployment')['spec'].template;
    const names = (spec.volumes ?? []).map((volume: { secret?: { secretName: string } }) => volume.secret?.secretName);
    assert.deepEqual(names, certificates === 'self-managed' ? [] : ['rossoctl-webhook-certificate']);
    const [container, ...others] = spec.containers;
    assert.deepEqual([others, spec.initContainers, container.envFrom], [[], undefined, undefined]);
    const sources = container.env.flatMap(({ valueFrom = {} }) => Object.keys(valueFrom));
    assert.deepEqual([...new Set(sources)], ['fieldRef']);
  }
});
