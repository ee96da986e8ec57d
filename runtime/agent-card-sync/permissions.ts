/** What the API server must allow the discovery of agents, and why. */

import { apiGroup } from '../api/names.ts';
import type { Permission } from '../engine/types.ts';

export const permissions: readonly Permission[] = [
  {
    apiGroup,
    resources: ['agentcards'],
    verbs: ['list', 'watch', 'create'],
    scope: 'watched',
    why: 'An enrolled Deployment or StatefulSet with a protocol label gets an AgentCard, unless it has one.',
  },
  {
    apiGroup,
    resources: ['agentcards'],
    verbs: ['get', 'patch', 'delete'],
    scope: 'watched',
    why: 'The generated AgentCard says which workload owns it, and is deleted when there is one made by hand; first it is read who wrote it.',
  },
  {
    apiGroup: 'apps',
    resources: ['deployments', 'statefulsets'],
    verbs: ['list', 'watch'],
    scope: 'watched',
    why: 'The workloads whose cards are discovered.',
  },
  {
    apiGroup: '',
    resources: ['namespaces'],
    verbs: ['list', 'watch'],
    scope: 'cluster',
    why: 'Nothing is made in a namespace that is being deleted.',
  },
  {
    apiGroup: 'events.k8s.io',
    resources: ['events'],
    verbs: ['create', 'patch'],
    scope: 'watched',
    why: 'That a generated card was withdrawn, or cannot be made, is written as an event beside the workload.',
  },
];
