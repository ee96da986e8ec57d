/** What the API server must allow the enrolment controller, and why. */

import { apiGroup, configMaps } from '../api/names.ts';
import type { Permission } from '../engine/types.ts';

const read = ['get', 'list', 'watch'] as const;

export const permissions: readonly Permission[] = [
  {
    apiGroup,
    resources: ['agentruntimes'],
    verbs: [...read, 'patch'],
    scope: 'watched',
    why: 'The resources it serves; patch sets and removes the finalizer rossoctl.io/cleanup.',
  },
  {
    apiGroup,
    resources: ['agentruntimes/status'],
    verbs: ['patch'],
    scope: 'watched',
    why: 'Phase, conditions and the number of configured pods.',
  },
  {
    apiGroup: 'apps',
    resources: ['deployments', 'statefulsets', 'daemonsets'],
    verbs: [...read, 'patch'],
    scope: 'watched',
    why: 'The workloads that are enrolled: the type label and the configuration hash are set on them and taken away again.',
  },
  {
    apiGroup: 'batch',
    resources: ['jobs', 'cronjobs'],
    verbs: [...read, 'patch'],
    scope: 'watched',
    why: 'The workloads that are enrolled: the type label and the configuration hash are set on them and taken away again.',
  },
  {
    apiGroup: 'apps',
    resources: ['replicasets'],
    verbs: ['list', 'watch'],
    scope: 'watched',
    why: 'A pod of a Deployment is found through its ReplicaSet.',
  },
  {
    apiGroup: '',
    resources: ['pods'],
    verbs: ['list', 'watch'],
    scope: 'watched',
    why: 'Pods are counted, and those without sidecars named.',
  },
  {
    apiGroup: '',
    resources: ['configmaps'],
    verbs: ['list', 'watch'],
    scope: 'watched',
    why: 'Namespace defaults: the ConfigMap labelled rossoctl.io/defaults may have any name.',
  },
  {
    apiGroup: '',
    resources: ['configmaps'],
    verbs: ['create', 'patch', 'delete'],
    resourceNames: [configMaps.authBridge.name],
    scope: 'watched',
    why: 'The settings that injected sidecars refer to, kept in each namespace with an AgentRuntime. No other ConfigMap is ever written.',
  },
  {
    apiGroup: '',
    resources: ['configmaps'],
    verbs: ['list', 'watch'],
    resourceNames: [configMaps.platform.name, configMaps.gates.name],
    scope: 'own',
    why: 'The platform configuration and the feature gates.',
  },
  {
    apiGroup: '',
    resources: ['serviceaccounts'],
    verbs: ['list', 'watch', 'create', 'patch'],
    scope: 'watched',
    why: 'A ServiceAccount that a pod template names and that does not exist is created, so that no pod waits for it.',
  },
  {
    apiGroup: '',
    resources: ['namespaces'],
    verbs: ['list', 'watch'],
    scope: 'cluster',
    why: 'Whether a namespace enforces Pod Security, takes part in injection, or is being deleted.',
  },
  {
    apiGroup: 'storage.k8s.io',
    resources: ['csidrivers'],
    verbs: ['list', 'watch'],
    scope: 'cluster',
    why: 'Whether the cluster can mount SPIFFE identities.',
  },
  {
    apiGroup: 'events.k8s.io',
    resources: ['events'],
    verbs: ['create', 'patch'],
    scope: 'watched',
    why: 'One event for each change that a person should know of.',
  },
];
