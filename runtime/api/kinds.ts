/** One `Kind` constant per Kubernetes kind the runtime touches. */

import type { KubeObject, Kind } from '../engine/types.ts';
import type { AgentCard } from './agent-card.ts';
import type { AgentRuntime } from './agent-runtime.ts';
import type * as k8s from './kubernetes.ts';
import { apiVersion } from './names.ts';

function kind<T extends KubeObject>(apiVersion: string, kind: string, plural: string, namespaced = true): Kind<T> {
  return Object.freeze({ apiVersion, kind, plural, namespaced });
}

export const kinds = {
  agentRuntime: kind<AgentRuntime>(apiVersion, 'AgentRuntime', 'agentruntimes'),
  agentCard: Object.freeze({ ...kind<AgentCard>(apiVersion, 'AgentCard', 'agentcards'), atomic: ['card'] }),

  pod: kind<k8s.Pod>('v1', 'Pod', 'pods'),
  configMap: kind<k8s.ConfigMap>('v1', 'ConfigMap', 'configmaps'),
  secret: kind<k8s.Secret>('v1', 'Secret', 'secrets'),
  serviceAccount: kind<k8s.ServiceAccount>('v1', 'ServiceAccount', 'serviceaccounts'),
  service: kind<k8s.Service>('v1', 'Service', 'services'),
  endpointSlice: kind<k8s.EndpointSlice>('discovery.k8s.io/v1', 'EndpointSlice', 'endpointslices'),
  networkPolicy: kind<k8s.NetworkPolicy>('networking.k8s.io/v1', 'NetworkPolicy', 'networkpolicies'),
  namespace: kind<k8s.Namespace>('v1', 'Namespace', 'namespaces', false),

  deployment: kind<k8s.Deployment>('apps/v1', 'Deployment', 'deployments'),
  statefulSet: kind<k8s.StatefulSet>('apps/v1', 'StatefulSet', 'statefulsets'),
  daemonSet: kind<k8s.DaemonSet>('apps/v1', 'DaemonSet', 'daemonsets'),
  /** A template of a StatefulSet or DaemonSet, as it was when pods were made from it. */
  controllerRevision: kind<KubeObject>('apps/v1', 'ControllerRevision', 'controllerrevisions'),
  replicaSet: kind<k8s.ReplicaSet>('apps/v1', 'ReplicaSet', 'replicasets'),
  job: kind<k8s.Job>('batch/v1', 'Job', 'jobs'),
  cronJob: kind<k8s.CronJob>('batch/v1', 'CronJob', 'cronjobs'),

  csiDriver: kind<k8s.CSIDriver>('storage.k8s.io/v1', 'CSIDriver', 'csidrivers', false),
  lease: kind<k8s.Lease>('coordination.k8s.io/v1', 'Lease', 'leases'),
  mutatingWebhookConfiguration: kind<k8s.WebhookConfiguration>(
    'admissionregistration.k8s.io/v1',
    'MutatingWebhookConfiguration',
    'mutatingwebhookconfigurations',
    false,
  ),
  validatingWebhookConfiguration: kind<k8s.WebhookConfiguration>(
    'admissionregistration.k8s.io/v1',
    'ValidatingWebhookConfiguration',
    'validatingwebhookconfigurations',
    false,
  ),
  customResourceDefinition: kind<k8s.CustomResourceDefinition>(
    'apiextensions.k8s.io/v1',
    'CustomResourceDefinition',
    'customresourcedefinitions',
    false,
  ),
} as const;
