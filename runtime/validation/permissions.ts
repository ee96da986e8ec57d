/** What the API server must allow the validating webhooks. */

import { apiGroup } from '../api/names.ts';
import type { Permission } from '../engine/types.ts';

export const permissions: readonly Permission[] = [
  {
    apiGroup,
    resources: ['agentruntimes'],
    verbs: ['list'],
    scope: 'watched',
    why: 'Each new AgentRuntime is compared with those that exist at that moment, so that a workload never has two.',
  },
  {
    apiGroup,
    resources: ['agentcards'],
    verbs: ['list'],
    scope: 'watched',
    why: 'Each new AgentCard is compared with those that exist at that moment, so that a workload never has two made by hand.',
  },
];
