/** What the API server must allow the network policy controller, and why. */

import { apiGroup, configMaps } from '../api/names.ts';
import type { Permission } from '../engine/types.ts';

const watched = { verbs: ['list', 'watch'], scope: 'watched' } as const;

export const permissions: readonly Permission[] = [
  {
    ...watched,
    apiGroup,
    resources: ['agentcards'],
    why: 'The verdicts that network policies follow.',
  },
  {
    apiGroup,
    resources: ['agentcards/status'],
    verbs: ['patch'],
    scope: 'watched',
    why: 'The condition NetworkPolicyReady: whether an agent’s network is open, closed, or out of the operator’s hands.',
  },
  {
    apiGroup: 'networking.k8s.io',
    resources: ['networkpolicies'],
    verbs: ['list', 'watch', 'create', 'patch', 'delete'],
    scope: 'watched',
    why: 'One network policy a workload with an AgentCard, and one for pods that outlive theirs; those that others made are never written.',
  },
  {
    ...watched,
    apiGroup: 'apps',
    resources: ['deployments', 'statefulsets', 'daemonsets'],
    why: 'A policy selects the pods that the workload itself selects.',
  },
  {
    ...watched,
    apiGroup: 'batch',
    resources: ['jobs', 'cronjobs'],
    why: 'A policy selects the pods that the workload itself selects.',
  },
  {
    apiGroup: '',
    resources: ['pods'],
    verbs: ['list'],
    scope: 'watched',
    why: 'Pods that outlive their workload stay closed until the last of them has ended.',
  },
  {
    ...watched,
    apiGroup: '',
    resources: ['configmaps'],
    why: 'Namespace defaults: the ConfigMap labelled rossoctl.io/defaults may have any name.',
  },
  {
    apiGroup: '',
    resources: ['configmaps'],
    verbs: ['list', 'watch'],
    resourceNames: [configMaps.platform.name, configMaps.gates.name],
    scope: 'own',
    why: 'The platform configuration: who may reach verified agents, and where DNS is.',
  },
  {
    apiGroup: '',
    resources: ['namespaces'],
    verbs: ['list', 'watch'],
    scope: 'cluster',
    why: 'Nothing can be created in a namespace that is being deleted.',
  },
  {
    apiGroup: 'events.k8s.io',
    resources: ['events'],
    verbs: ['create', 'patch'],
    scope: 'watched',
    why: 'One event when an agent’s network opens, closes, or cannot be enforced.',
  },
];
