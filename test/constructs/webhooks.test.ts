/** The webhook registrations, whole: one edit that widens a selector or loses a timeout shows up here (AD-05, AD-01). */

import assert from 'node:assert/strict';
import test from 'node:test';
import type { AgentPlatformProps } from '../../constructs/index.ts';
import { one, platform } from './synthesized.ts';

const injector = (props: Partial<AgentPlatformProps> = {}) =>
  one(platform(props), 'MutatingWebhookConfiguration')['webhooks'];
const validator = (props: Partial<AgentPlatformProps> = {}) =>
  one(platform(props), 'ValidatingWebhookConfiguration')['webhooks'];

test('AD-05 the injector', () => {
  assert.deepEqual(injector(), [
    {
      name: 'inject.rossoctl.io',
      admissionReviewVersions: ['v1'],
      clientConfig: {
        service: {
          name: 'rossoctl-webhook',
          namespace: 'rossoctl-system',
          path: '/mutate-workloads-authbridge',
          port: 443,
        },
      },
      failurePolicy: 'Fail',
      matchPolicy: 'Equivalent',
      namespaceSelector: {
        matchExpressions: [
          {
            key: 'kubernetes.io/metadata.name',
            operator: 'NotIn',
            values: ['kube-system', 'kube-public', 'kube-node-lease', 'rossoctl-system'],
          },
        ],
      },
      objectSelector: {
        matchExpressions: [
          { key: 'rossoctl.io/type', operator: 'In', values: ['agent', 'tool'] },
          { key: 'rossoctl.io/inject', operator: 'NotIn', values: ['disabled'] },
        ],
      },
      reinvocationPolicy: 'IfNeeded',
      rules: [
        { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'], scope: 'Namespaced' },
      ],
      sideEffects: 'None',
      timeoutSeconds: 10,
    },
  ]);
});

const validators = [
  ['agentruntime.rossoctl.io', '/validate-agent-rossoctl-dev-v1alpha1-agentruntime', 'agentruntimes'],
  ['agentcard.rossoctl.io', '/validate-agent-rossoctl-dev-v1alpha1-agentcard', 'agentcards'],
] as const;

test('AD-05 the validators', () => {
  assert.deepEqual(
    validator(),
    validators.map(([name, path, plural]) => ({
      name,
      admissionReviewVersions: ['v1'],
      clientConfig: { service: { name: 'rossoctl-webhook', namespace: 'rossoctl-system', path, port: 443 } },
      failurePolicy: 'Fail',
      matchPolicy: 'Equivalent',
      matchConditions: [
        { name: 'not-being-deleted', expression: '!has(object.metadata.deletionTimestamp)' },
        { name: 'spec-is-new', expression: 'request.operation == "CREATE" || object.spec != oldObject.spec' },
      ],
      namespaceSelector: {},
      rules: [
        {
          apiGroups: ['agent.rossoctl.dev'],
          apiVersions: ['v1alpha1'],
          operations: ['CREATE', 'UPDATE'],
          resources: [plural],
          scope: 'Namespaced',
        },
      ],
      sideEffects: 'None',
      timeoutSeconds: 10,
    })),
  );
});

test('AD-01 the operator’s namespace is excluded under whatever name', () => {
  const [webhook] = injector({ namespace: 'agents-op' });
  assert.ok(webhook.namespaceSelector.matchExpressions[0].values.includes('agents-op'));
});

test('AD-01 a namespaced install excludes system namespaces too', () => {
  const [webhook] = injector({ watch: { kind: 'namespaced', namespaces: ['team1'] } });
  const [never, only] = webhook.namespaceSelector.matchExpressions;
  assert.equal(never.operator, 'NotIn');
  assert.ok(never.values.includes('kube-system'));
  assert.deepEqual(only, { key: 'kubernetes.io/metadata.name', operator: 'In', values: ['team1'] });
});

test('AD-01 the operator’s own pods do not carry the type label', () => {
  const { labels } = one(platform(), 'Deployment')['spec'].template.metadata;
  assert.equal(labels['rossoctl.io/type'], undefined);
});

test('the namespace label is required only when the install says so', () => {
  assert.deepEqual(injector({ requireNamespaceLabel: true })[0].namespaceSelector.matchLabels, {
    'rossoctl-enabled': 'true',
  });
  assert.equal(injector()[0].namespaceSelector.matchLabels, undefined);
});

test('namespaced mode limits webhooks and the type’s policy, also for a namespace that is added late', () => {
  const objects = platform({ watch: { kind: 'namespaced', namespaces: ['team1'] } }, (made) =>
    made.watchNamespace('team2'),
  );
  const only = { key: 'kubernetes.io/metadata.name', operator: 'In', values: ['team1', 'team2'] };
  const [mutating] = one(objects, 'MutatingWebhookConfiguration')['webhooks'];
  assert.deepEqual(mutating.namespaceSelector.matchExpressions[1], only);
  for (const validating of one(objects, 'ValidatingWebhookConfiguration')['webhooks']) {
    assert.deepEqual(validating.namespaceSelector, { matchExpressions: [only] });
  }
  const policy = (name: string) => one(objects, 'ValidatingAdmissionPolicy', name)['spec'].matchConstraints;
  assert.deepEqual(policy('agent-label-protection').namespaceSelector, { matchExpressions: [only] });
  // A verdict is believed wherever a pod runs, so nobody may claim one anywhere.
  assert.deepEqual(policy('signature-label-protection').namespaceSelector, {});
});

test('PU-02 no manifest carries a caBundle, a type label or a hash', () => {
  const objects = platform({ certificates: 'cert-manager', config: {}, featureGates: {} });
  for (const object of objects) {
    assert.equal(JSON.stringify(object).includes('"caBundle":'), false);
    assert.equal(object.metadata.labels?.['rossoctl.io/type'], undefined);
  }
  const template = one(objects, 'Deployment')['spec'].template.metadata;
  assert.equal(template.annotations['rossoctl.io/config-hash'], undefined);
});
