/** The mutating webhook: gathers, judges, answers. */

import { kinds } from '../api/kinds.ts';
import type { Pod } from '../api/kubernetes.ts';
import { webhooks } from '../api/names.ts';
import type { Verdict, Watch, Webhook } from '../engine/types.ts';
import { agentRuntimes, csiDrivers, enrolledReplicaSets, namespaces } from '../workload/watches.ts';
import { gather, type Sources } from './gather.ts';
import { judge } from './judge.ts';
import { createMemory } from './memory.ts';

/** Watches that must be synced before the webhook can answer, besides those of the configuration. */
export const authBridgeReads: readonly Watch[] = Object.freeze([
  agentRuntimes as Watch,
  csiDrivers,
  enrolledReplicaSets,
  namespaces,
]);

/** A webhook configuration older than this one may send other objects: they are none of ours, and pass as they are. */
export const notAPod: Verdict<Pod> = Object.freeze({
  kind: 'allow',
  reason: 'NotAPod',
  note: 'the request is not about a Pod',
});

/** Reads only: no request of it ever writes, so `dryRun` needs no case of its own. A failed read throws, which denies. */
export function createAuthBridgeWebhook(sources: Sources): Webhook<Pod> {
  const memory = createMemory();
  const { name, path } = webhooks.inject;
  return {
    name,
    path,
    kind: kinds.pod,
    otherKinds: notAPod,
    review: async (request) => judge(await gather(request, sources), memory).verdict,
  };
}
