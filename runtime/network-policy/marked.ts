/** Which NetworkPolicies have had our mark since this process watches: whoever takes the record away makes a policy nobody else's. */

import type { NetworkPolicy } from '../api/kubernetes.ts';
import type { Trigger } from '../engine/types.ts';
import { trigger } from '../workload/trigger.ts';
import { isOurs } from './ownership.ts';
import { networkPolicies } from './watch.ts';

export interface Marked {
  /** This very object, by its uid, has the mark or had it. */
  has(policy: NetworkPolicy): boolean;
  /** Takes note of what it is told, and wakes nobody. */
  readonly trigger: Trigger;
}

export function createMarked(): Marked {
  const uids = new Set<string>();
  return {
    has: (policy) => isOurs(policy) || uids.has(policy.metadata.uid ?? ''),
    trigger: trigger(networkPolicies, ({ old, now }) => {
      if (old !== undefined && old.metadata.uid !== now?.metadata.uid) uids.delete(old.metadata.uid ?? '');
      if (now !== undefined && isOurs(now)) uids.add(now.metadata.uid ?? '');
      return [];
    }),
  };
}
