/** What a schema cannot say about an AgentRuntime. */

import type { AgentRuntime } from '../api/agent-runtime.ts';
import { kinds } from '../api/kinds.ts';
import { webhooks } from '../api/names.ts';
import type { Rules } from './rules.ts';
import { kindWarning } from './target-kind.ts';

export const agentRuntimeRules: Rules<AgentRuntime> = {
  webhook: webhooks.agentRuntime,
  kind: kinds.agentRuntime,
  refusal: () => undefined,
  warnings: ({ targetRef, trace }, supported) => [
    ...kindWarning(targetRef, 'cannot be enrolled', supported),
    ...samplingWarning(trace?.sampling),
  ],
  isRival: () => true,
};

function samplingWarning(sampling: NonNullable<AgentRuntime['spec']['trace']>['sampling']): readonly string[] {
  if (sampling?.rate === undefined || sampling.type === undefined || sampling.type === 'probabilistic') return [];
  return [`spec.trace.sampling.rate: has no effect with type ${sampling.type}; remove it, or use type probabilistic.`];
}
