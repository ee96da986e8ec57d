/** Every option of the operator: the prop or environment variable that reaches it, or why an install never sets it. */

import assert from 'node:assert/strict';
import test from 'node:test';
import type { AgentPlatformProps } from '../../constructs/index.ts';
import { release } from '../../runtime/api/release.ts';
import type { OptionName } from '../../runtime/operator/options.ts';
import { parseSettings, type Settings } from '../../runtime/operator/settings.ts';
import { one, platform } from './synthesized.ts';

interface Carried {
  readonly props: Partial<AgentPlatformProps>;
  readonly value: unknown;
}

function verified(more: NonNullable<AgentPlatformProps['verification']>): Partial<AgentPlatformProps> {
  return { verification: { requireSignature: true, ...more } };
}

/** The compiler asks for a row for each new option. */
const carried: Readonly<Record<OptionName, Carried | string>> = {
  namespace: { props: { namespace: 'agents-op' }, value: 'agents-op' },
  podName: 'the pod says it',
  manifests: 'always the release of the constructs',
  namespaces: { props: { watch: { kind: 'namespaced', namespaces: ['b', 'a'] } }, value: ['a', 'b'] },
  instance: { props: { instance: 'blue', watch: { kind: 'namespaced', namespaces: ['a'] } }, value: 'blue' },
  kubeconfig: 'in a cluster the account counts',
  apiServerHost: 'Kubernetes says it',
  apiServerPort: 'Kubernetes says it',
  context: 'in a cluster the account counts',
  requireNamespaceLabel: { props: { requireNamespaceLabel: true }, value: true },
  leaderElect: 'always',
  deploymentName: { props: { deploymentName: 'another' }, value: 'another' },
  webhookPort: 'fixed, as the port of the container',
  webhookService: 'fixed, as the Service',
  webhookHost: 'webhooks are registered by Service',
  drainSeconds: 'fixed, within the grace period of the pod',
  metricsPort: 'fixed, as the port of the container',
  healthPort: 'fixed, as the port of the container',
  certificates: { props: { certificates: 'cert-manager' }, value: 'files' },
  certificateDir: 'fixed, as where it is mounted',
  certificateSecret: 'fixed, as the Secret',
  configPath: 'fixed, as where it is mounted',
  gatesPath: 'fixed, as where it is mounted',
  logLevel: { props: { logLevel: 'debug' }, value: 'debug' },
  requireSignature: { props: { verification: { requireSignature: true } }, value: true },
  signatureAudit: { props: verified({ audit: true }), value: true },
  signatureProfiles: { props: verified({ profiles: 'jcs' }), value: 'jcs' },
  trustDomain: { props: verified({ trustDomain: 'prod.example' }), value: 'prod.example' },
  bindingScope: { props: verified({ scope: 'workload' }), value: 'workload' },
  trustBundleConfigMap: { props: verified({ trustBundle: { name: 'roots' } }), value: 'roots' },
  trustBundleNamespace: { props: verified({ trustBundle: { namespace: 'identity' } }), value: 'identity' },
  trustBundleKey: { props: verified({ trustBundle: { key: 'ca.pem' } }), value: 'ca.pem' },
  enforceNetworkPolicies: { props: { ...verified({}), networkPolicies: { enforce: true } }, value: true },
  verdictSyncPeriods: { props: verified({ syncPeriods: 5 }), value: 5 },
  cardFetches: { props: { cardFetches: { atOnce: 8 } }, value: 8 },
  cardTimeoutSeconds: { props: { cardFetches: { timeoutSeconds: 3 } }, value: 3 },
  qps: { props: { apiRequests: { qps: 7 } }, value: 7 },
  burst: { props: { apiRequests: { burst: 9 } }, value: 9 },
};

interface Variable {
  readonly name: string;
  readonly value?: string;
  readonly valueFrom?: { readonly fieldRef: { readonly fieldPath: string } };
}

/** What the operator of an install makes of its arguments and environment, as the kubelet would set them. */
function settingsOf(props: Partial<AgentPlatformProps>): Settings {
  const { metadata, ...deployment } = one(platform(props), 'Deployment');
  const { args, env } = deployment['spec'].template.spec.containers[0] as {
    readonly args: readonly string[];
    readonly env: readonly Variable[];
  };
  const fields: Readonly<Record<string, string | undefined>> = {
    'metadata.namespace': metadata.namespace,
    'metadata.name': 'a-pod',
  };
  const variables = env.map(({ name, value, valueFrom }) => [
    name,
    value ?? fields[valueFrom?.fieldRef.fieldPath ?? ''],
  ]);
  return parseSettings(args, Object.fromEntries(variables) as Readonly<Record<string, string>>);
}

for (const [name, row] of Object.entries(carried) as readonly (readonly [OptionName, Carried | string])[]) {
  if (typeof row === 'string') continue;
  test(`the option ${name} is what its prop says`, () => {
    assert.deepEqual(settingsOf(row.props)[name], row.value);
    assert.notDeepEqual(settingsOf({})[name], row.value, 'the default would do as well');
  });
}

test('an option that no prop sets has its default in an install', () => {
  const install = settingsOf({});
  const bare = parseSettings([], { POD_NAME: 'a-pod', ROSSOCTL_MANIFESTS_RELEASE: release });
  assert.deepEqual(install, bare);
});
