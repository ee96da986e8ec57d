/** What the Go operator leaves in a cluster: its definitions, a policy of a name with ours, and enrolled workloads with what it wrote on them. */

import { crdNames } from '../../runtime/api/crds.ts';
import { annotations, apiGroup, apiVersion, finalizer, labels, managedBy, policies } from '../../runtime/api/names.ts';
import { runtimeFor, workload, type Written } from '../support/workload-objects.ts';

export const namespace = 'team1';
export const formerHash = '0123456789abcdef'.repeat(4);
const formerFinalizers = ['agentcard.rossoctl.dev/finalizer', 'agentcard.rossoctl.dev/network-policy'];

/** A definition as the Go operator has it, as far as it differs from ours: fields that we do not have, and defaults. */
function former(name: string, spec: Readonly<Record<string, object>>): Written {
  const [plural = ''] = name.split('.');
  const kind = plural === 'agentcards' ? 'AgentCard' : 'AgentRuntime';
  const open = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  const schema = {
    type: 'object',
    properties: { spec: { type: 'object', properties: { targetRef: open, ...spec } }, status: open },
  };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name },
    spec: {
      group: apiGroup,
      scope: 'Namespaced',
      names: { kind, plural, singular: kind.toLowerCase(), listKind: `${kind}List` },
      versions: [
        {
          name: 'v1alpha1',
          served: true,
          storage: true,
          subresources: { status: {} },
          schema: { openAPIV3Schema: schema },
        },
      ],
    },
  };
}

const text = { type: 'string' };
export const formerRuntimes = former(crdNames[0] ?? '', {
  type: text,
  authBridgeMode: { ...text, enum: ['proxy-sidecar', 'envoy-sidecar', 'lite', 'waypoint'] },
  mtlsMode: { ...text, default: 'permissive' },
  tlsBridgeMode: { ...text, default: 'disabled' },
  egressEnforcement: text,
});
export const formerCards = former(crdNames[1] ?? '', {
  syncPeriod: { ...text, default: '30s' },
  identityBinding: { type: 'object', properties: { trustDomain: text, strict: { type: 'boolean', default: false } } },
});

/** A Deployment as the Go operator leaves it. */
function enrolledBefore(name: string, more: Readonly<Record<string, string>> = {}): Written {
  const object = workload('Deployment', namespace, name, {
    replicas: 1,
    labels: { [labels.type]: 'agent', ...more },
  });
  const { spec } = object as unknown as { spec: { template: { metadata: object } } };
  Object.assign(spec.template.metadata, {
    annotations: { [annotations.configHash]: formerHash, 'rossoctl.io/mtls-mode': 'permissive' },
  });
  const own = { ...object.metadata.labels, [labels.type]: 'agent', [labels.managedBy]: managedBy };
  return { ...object, metadata: { ...object.metadata, labels: { ...own, [`${labels.protocolPrefix}a2a`]: '' } } };
}

export const weather = enrolledBefore('weather');
export const signed = enrolledBefore('signed', { [labels.signatureVerified]: 'true' });
export const runtimes = [weather, signed].map((target) => {
  const runtime = runtimeFor(target, { egressEnforcement: 'none' } as object);
  return { ...runtime, metadata: { ...runtime.metadata, finalizers: [finalizer] } };
});
export const card: Written = {
  apiVersion,
  kind: 'AgentCard',
  metadata: {
    namespace,
    name: 'weather-deployment-card',
    labels: { [labels.managedBy]: managedBy },
    finalizers: formerFinalizers,
  },
  spec: { targetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'weather' }, identityBinding: {} },
};
export const authBridgeConfig: Written = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { namespace, name: 'authbridge-config', labels: { [labels.defaults]: 'true' } },
  data: { KEYCLOAK_REALM: 'rossoctl' },
};

/** As far as it matters: of one name with ours, and with a condition that ours does not have. */
export const formerPolicy: Written = {
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind: 'ValidatingAdmissionPolicy',
  metadata: { name: policies.labelProtection },
  spec: {
    matchConstraints: {
      resourceRules: [{ apiGroups: ['apps'], apiVersions: ['v1'], operations: ['CREATE'], resources: ['deployments'] }],
    },
    matchConditions: [{ name: 'former', expression: 'false' }],
    validations: [{ expression: 'true' }],
  },
};
