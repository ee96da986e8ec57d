/** What wakes AgentRuntimes besides Kubernetes objects and the mounted files: places in the rollout. */

import type { AgentRuntime } from '../api/agent-runtime.ts';
import type { ObjectKey, Reader, Source } from '../engine/types.ts';
import { lookUpTarget } from '../workload/find.ts';
import { enrolled } from '../workload/fragment.ts';
import { agentRuntimes } from '../workload/watches.ts';
import type { Rollouts } from './rollouts.ts';

/** Counts the rollouts under way when the controller starts, so that a new leader does not start as many again (CF-03). */
export function rolloutSource(rollouts: Rollouts, monotonicMs: () => number): Source {
  return {
    name: 'rollouts',
    start: (wake, reader) => {
      rollouts.begin(running(reader), monotonicMs(), wake);
      return () => rollouts.end();
    },
  };
}

function running(reader: Reader): readonly ObjectKey[] {
  return reader
    .list(agentRuntimes)
    .filter((runtime) => isRolling(runtime, reader))
    .map(({ metadata }) => ({ namespace: metadata.namespace, name: metadata.name ?? '' }));
}

function isRolling(runtime: AgentRuntime, reader: Reader): boolean {
  const ref = runtime.spec?.targetRef;
  if (ref === undefined) return false;
  const target = lookUpTarget(reader, runtime.metadata.namespace ?? '', ref);
  if (!('found' in target)) return false;
  const { row, rollout } = target.found;
  return row.restartsPods && rollout === 'running' && enrolled(target.found).complete;
}
