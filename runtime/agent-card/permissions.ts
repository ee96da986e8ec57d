/** What the API server must allow the AgentCard controller, and why. */

import { apiGroup, configMaps } from '../api/names.ts';
import type { Permission } from '../engine/types.ts';

const read = ['get', 'list', 'watch'] as const;

export const permissions: readonly Permission[] = [
  {
    apiGroup,
    resources: ['agentcards'],
    verbs: [...read, 'patch'],
    scope: 'watched',
    why: 'The cards it keeps; patch sets and removes the finalizer rossoctl.io/cleanup.',
  },
  {
    apiGroup,
    resources: ['agentcards/status'],
    verbs: ['patch'],
    scope: 'watched',
    why: 'The card as it was fetched, the verdict on its signature, and conditions.',
  },
  {
    apiGroup,
    resources: ['agentruntimes'],
    verbs: ['list', 'watch'],
    scope: 'watched',
    why: 'A workload that is no agent although an AgentRuntime names it is told so.',
  },
  {
    apiGroup: 'apps',
    resources: ['deployments', 'statefulsets', 'daemonsets'],
    verbs: ['list', 'watch', 'patch'],
    scope: 'watched',
    why: 'The workloads whose cards are fetched; patch sets and removes the label agent.rossoctl.dev/signature-verified on their metadata.',
  },
  {
    apiGroup: 'batch',
    resources: ['jobs', 'cronjobs'],
    verbs: ['list', 'watch', 'patch'],
    scope: 'watched',
    why: 'The workloads whose cards are fetched; patch sets and removes the label agent.rossoctl.dev/signature-verified on their metadata.',
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
    verbs: ['list', 'watch', 'patch'],
    scope: 'watched',
    why: 'Pods that are ready are asked for the card; patch sets and removes the label agent.rossoctl.dev/signature-verified on them.',
  },
  {
    apiGroup: '',
    resources: ['services'],
    verbs: ['list', 'watch'],
    scope: 'watched',
    why: 'The card is fetched through a Service that selects the workload’s pods.',
  },
  {
    apiGroup: 'discovery.k8s.io',
    resources: ['endpointslices'],
    verbs: ['list', 'watch'],
    scope: 'watched',
    why: 'Where the pods of a headless Service listen.',
  },
  {
    apiGroup: '',
    resources: ['configmaps'],
    verbs: ['list', 'watch'],
    scope: 'watched',
    why: 'Namespace defaults may name the trust domain; the ConfigMap labelled rossoctl.io/defaults may have any name.',
  },
  {
    apiGroup: '',
    resources: ['configmaps'],
    verbs: ['list', 'watch'],
    resourceNames: [configMaps.platform.name, configMaps.gates.name],
    scope: 'own',
    why: 'The platform configuration names the trust domain.',
  },
  {
    apiGroup: 'events.k8s.io',
    resources: ['events'],
    verbs: ['create', 'patch'],
    scope: 'watched',
    why: 'One event for each change that a person should know of.',
  },
];

/** The one ConfigMap with the trust bundle, by its name: needed where signatures are verified. */
export function trustBundlePermissions(namespace: string, name: string): readonly Permission[] {
  return [
    {
      apiGroup: '',
      resources: ['configmaps'],
      verbs: ['list', 'watch'],
      resourceNames: [name],
      scope: { namespace },
      why: 'The trust bundle against which signatures of agent cards are verified.',
    },
  ];
}
