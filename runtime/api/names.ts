/** Every label, annotation, finalizer, field manager and object name that is a contract with users, dashboards or other tools. */

import { sha256Hex } from '../encoding/digest.ts';

export const apiGroup = 'agent.rossoctl.dev';
export const apiVersion = `${apiGroup}/v1alpha1`;

/** Defaults of an install; all three can be set. */
export const install = {
  namespace: 'rossoctl-system',
  serviceAccount: 'rossoctl-operator',
  deployment: 'rossoctl-operator',
  webhookService: 'rossoctl-webhook',
  lease: 'rossoctl-operator',
  certificateSecret: 'rossoctl-webhook-certificate',
} as const;

export const labels = {
  type: 'rossoctl.io/type',
  inject: 'rossoctl.io/inject',
  envoyProxyInject: 'rossoctl.io/envoy-proxy-inject',
  spiffeHelperInject: 'rossoctl.io/spiffe-helper-inject',
  clientRegistrationInject: 'rossoctl.io/client-registration-inject',
  managedBy: 'app.kubernetes.io/managed-by',
  /** On every object of an install that is one of several; for people, since Argo CD takes `app.kubernetes.io/instance` for its own. */
  instance: 'rossoctl.io/instance',
  defaults: 'rossoctl.io/defaults',
  /** Set by the developer; existence counts: `protocol.rossoctl.io/a2a`. */
  protocolPrefix: 'protocol.rossoctl.io/',
  signatureVerified: 'agent.rossoctl.dev/signature-verified',
  /** On a Namespace, required only when the install says so. */
  enabled: 'rossoctl-enabled',
  /** On a NetworkPolicy of ours: the AgentCard it follows. */
  agentCard: 'rossoctl.dev/agentcard',
  policyType: 'rossoctl.dev/policy-type',
} as const;

/** Kubernetes' own label, on every Namespace: its name. */
export const namespaceNameLabel = 'kubernetes.io/metadata.name';

/** Value of `labels.policyType` on a NetworkPolicy of ours. */
export const policyType = 'identity-verification';

/** What the operator's own pods are found by, for NetworkPolicies, Services and budgets. */
export const operatorPodLabels = {
  'app.kubernetes.io/name': 'rossoctl-operator',
  'app.kubernetes.io/component': 'operator',
} as const;

export const annotations = {
  /** On the pod template, and on each injected pod with the hash it was built from. */
  configHash: 'rossoctl.io/config-hash',
  /** Our marker on an injected pod: the injected containers' names, comma separated. */
  injected: 'rossoctl.io/injected',
  /** On an injected pod: the compiled defaults it was built from. Another release's are no reason to restart it, but show in status. */
  defaultsHash: 'rossoctl.io/defaults-hash',
  skills: 'rossoctl.io/skills',
  port: 'rossoctl.io/port',
  credentialsSecret: 'rossoctl.io/keycloak-client-credentials-secret-name',
  outboundPortsExclude: 'rossoctl.io/outbound-ports-exclude',
  inboundPortsExclude: 'rossoctl.io/inbound-ports-exclude',
  /** On a NetworkPolicy of ours: the part of the AgentCard's spec that it was opened for, as a hash; `none` while it is closed. */
  verdictFor: 'rossoctl.dev/verdict-for',
} as const;

/** Value of `labels.managedBy` on what is ours. */
export const managedBy = 'rossoctl-operator';

export const finalizer = 'rossoctl.io/cleanup';

/** What requests of the operator begin with; the API server records changes that name no field manager under it. */
export const userAgent = 'rossoctl-operator';

export const fieldManagers = {
  agentRuntime: 'rossoctl-agent-runtime',
  agentCard: 'rossoctl-agent-card',
  agentCardSync: 'rossoctl-agent-card-sync',
  networkPolicy: 'rossoctl-network-policy',
  certificates: 'rossoctl-certificates',
} as const;

export const configMaps = {
  platform: { name: 'rossoctl-platform-config', key: 'config.yaml' },
  gates: { name: 'rossoctl-feature-gates', key: 'feature-gates.yaml' },
  /** Namespace defaults have any name and the label `labels.defaults`. */
  namespaceDefaults: { key: 'config.yaml' },
  /** Made by the controller in each enrolled namespace: the effective values that injected environment refers to by key. */
  authBridge: { name: 'rossoctl-authbridge-config' },
} as const;

export const files = {
  config: '/etc/rossoctl/config.yaml',
  gates: '/etc/rossoctl/feature-gates/feature-gates.yaml',
} as const;

export const containers = {
  proxyInit: 'proxy-init',
  envoyProxy: 'envoy-proxy',
  spiffeHelper: 'spiffe-helper',
  clientRegistration: 'client-registration',
} as const;

export const webhooks = {
  inject: { name: 'inject.rossoctl.io', path: '/mutate-workloads-authbridge' },
  agentRuntime: {
    name: 'agentruntime.rossoctl.io',
    path: '/validate-agent-rossoctl-dev-v1alpha1-agentruntime',
  },
  agentCard: { name: 'agentcard.rossoctl.io', path: '/validate-agent-rossoctl-dev-v1alpha1-agentcard' },
} as const;

/** Objects that register the webhooks, of an install without an instance; the operator fills in their `caBundle`. */
export const webhookConfigurations = { injector: 'rossoctl-injector', validator: 'rossoctl-validator' } as const;

/** Admission policies, of an install without an instance. A cluster has one `signatureProtection`, whatever its installs. */
export const policies = {
  labelProtection: 'agent-label-protection',
  signatureProtection: 'signature-label-protection',
} as const;

/** What an instance may be called: a DNS label of 32 characters at most, so that every name made with it fits. */
export const instancePattern = '^[a-z0-9]([-a-z0-9]{0,30}[a-z0-9])?$';

/**
 * A cluster-wide name of one install of several: `rossoctl-injector-blue`; the plain one without an instance, which is undefined or ''.
 */
export function nameOfInstance(name: string, instance: string | undefined): string {
  return instance === undefined || instance === '' ? name : `${name}-${instance}`;
}

/** `webhookConfigurations` of one install of several. */
export function webhookConfigurationsOf(instance: string | undefined) {
  const { injector, validator } = webhookConfigurations;
  return { injector: nameOfInstance(injector, instance), validator: nameOfInstance(validator, instance) } as const;
}

/** The instance that a registration's name tells: '' for the plain name; undefined for a name that is none of ours. */
export function instanceOfRegistration(name: string): string | undefined {
  const base = Object.values(webhookConfigurations).find((plain) => name === plain || name.startsWith(`${plain}-`));
  if (base === undefined || name === base) return base === undefined ? undefined : '';
  const instance = name.slice(base.length + 1);
  return new RegExp(instancePattern).test(instance) ? instance : undefined;
}

const credentialsPrefix = 'rossoctl-keycloak-client-credentials';

/** Name of the Secret with a workload's Keycloak client credentials; also its volume's name (53 characters, under the limit of 63). */
export function credentialsSecretName(namespace: string, workload: string): string {
  return `${credentialsPrefix}-${sha256Hex(`${namespace}\0${workload}\0${credentialsPrefix}`).slice(0, 16)}`;
}

/** Name of the AgentCard that is made for a workload: `weather-deployment-card`. */
export function generatedCardName(kind: string, workload: string): string {
  return bounded(`${workload}-${kind.toLowerCase()}-card`, maxName);
}

/**
 * Name of the NetworkPolicy that follows an AgentCard's verdict: `weather-signature-policy`. With `kind`, for the second of two workloads of
 * one name: `weather-signature-policy-statefulset`, which no workload's plain name can be.
 */
export function networkPolicyName(workload: string, kind?: string): string {
  const suffix = kind === undefined ? '' : `-${kind.toLowerCase()}`;
  return bounded(`${workload}-signature-policy${suffix}`, maxName);
}

/** A name as a label's value, which has 63 characters at most. */
export function labelValue(name: string): string {
  return bounded(name, 63).replace(/[^A-Za-z0-9]+$/, '');
}

const maxName = 253;

/** Cut to length, with a hash of the whole so that two long names stay two. */
function bounded(name: string, length: number): string {
  return name.length <= length ? name : `${name.slice(0, length - 9)}-${sha256Hex(name).slice(0, 8)}`;
}

/** The SPIFFE ID of a pod: SPIFFE's own layout for Kubernetes workloads. `default` is Kubernetes' account when none is named. */
export function spiffeId(trustDomain: string, namespace: string, serviceAccount: string | undefined): string {
  return `spiffe://${trustDomain}/ns/${namespace}/sa/${serviceAccount || 'default'}`;
}
