/** Which of several AgentRuntimes with one target counts: the rule that controllers and the webhook share. */

import type { AgentRuntime } from '../api/agent-runtime.ts';

/** The oldest, then the smallest uid; one that is being deleted only when there is no other. */
export function firstRuntime(runtimes: readonly AgentRuntime[]): AgentRuntime | undefined {
  return runtimes.toSorted((a, b) => compare(rank(a), rank(b)))[0];
}

function rank({ metadata }: AgentRuntime): readonly string[] {
  const { deletionTimestamp, creationTimestamp = '', uid = '', name = '' } = metadata;
  return [deletionTimestamp === undefined ? '0' : '1', creationTimestamp, uid, name];
}

function compare(a: readonly string[], b: readonly string[]): number {
  const at = a.findIndex((value, index) => value !== b[index]);
  if (at < 0) return 0;
  return (a[at] ?? '') < (b[at] ?? '') ? -1 : 1;
}
