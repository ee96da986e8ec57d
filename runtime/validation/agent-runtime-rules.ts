/** What a schema cannot say about an AgentRuntime. */

import type { AgentRuntime } from '../api/agent-runtime.ts';
import { kinds } from '../api/kinds.ts';
import { webhooks } from '../api/names.ts';
import { neverInjected } from '../api/system-namespaces.ts';
import type { Rules } from './rules.ts';
import { kindWarning } from './target-kind.ts';

export function agentRuntimeRules(operatorNamespace: string): Rules<AgentRuntime> {
  return {
    webhook: webhooks.agentRuntime,
    kind: kinds.agentRuntime,
    namespaceRefusal: (namespace) => systemNamespace(namespace, operatorNamespace),
    refusal: () => undefined,
    warnings: ({ targetRef, trace }, supported) => [
      ...kindWarning(targetRef, 'cannot be enrolled', supported),
      ...samplingWarning(trace?.sampling),
    ],
    isRival: () => true,
  };
}

function systemNamespace(namespace: string, operatorNamespace: string): string | undefined {
  const never = neverInjected(namespace, operatorNamespace);
  return never && `metadata.namespace: ${never}; create the AgentRuntime and its workload in another namespace.`;
}

function samplingWarning(sampling: NonNullable<AgentRuntime['spec']['trace']>['sampling']): readonly string[] {
  if (sampling?.rate === undefined || sampling.type === undefined || sampling.type === 'probabilistic') return [];
  return [`spec.trace.sampling.rate: has no effect with type ${sampling.type}; remove it, or use type probabilistic.`];
}
