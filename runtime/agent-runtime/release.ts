/** What deletion takes back: exactly what enrolment set, unless another AgentRuntime has the same target. */

import type { AgentRuntimeStatus } from '../api/agent-runtime.ts';
import type { MergePatch, Plan } from '../engine/types.ts';
import { release as releaseOf } from '../workload/fragment.ts';
import type { Workload } from '../workload/workload.ts';
import { leftovers } from './needs.ts';
import type { Observed } from './observed.ts';

/** A missing target, an unsupported kind or a spec that is no longer valid leaves nothing to do, and never blocks the finalizer (RC-04). */
export function release(observed: Observed): Plan<AgentRuntimeStatus> {
  const { target, rivals, former } = observed;
  const held: readonly Workload[] = [
    ...('found' in target && rivals.length === 0 ? [target.found] : []),
    ...(former === undefined ? [] : [former]),
  ];
  const patch = held.map((workload) => releaseOf(workload)).filter((one): one is MergePatch => one !== undefined);
  return { patch, remove: leftovers(observed) };
}
