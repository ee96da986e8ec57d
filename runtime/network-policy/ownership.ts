/** Whose a NetworkPolicy is: ours, by the API server's record, or a user's; and which AgentCard controls it. */

import type { NetworkPolicy } from '../api/kubernetes.ts';
import { kinds } from '../api/kinds.ts';
import { apiGroup, fieldManagers, labels, managedBy, policyType } from '../api/names.ts';
import { groupOf } from '../api/target-ref.ts';
import type { ManagedFields, OwnerReference } from '../engine/types.ts';

/** The AgentCard that controls it. */
export function controllingCard({ metadata }: NetworkPolicy): OwnerReference | undefined {
  return metadata.ownerReferences?.find(
    ({ apiVersion, kind, controller }) =>
      controller === true && kind === kinds.agentCard.kind && groupOf(apiVersion) === apiGroup,
  );
}

/** Controlled by something that our apply would not take away: what is no AgentCard, and whatever else we are not on record for. */
export function isControlledByOther(policy: NetworkPolicy, cardUid: string | undefined): boolean {
  const controller = policy.metadata.ownerReferences?.find((owner) => owner.controller === true);
  if (controller === undefined || controller.uid === cardUid) return false;
  return controllingCard(policy) === undefined || !isOurs(policy);
}

/** Made by an operator, by the API server's record: an agent's policy, or that of pods which have outlived their agent. Labels prove nothing. */
export function isMadeByOperator({ metadata }: NetworkPolicy): boolean {
  return metadata.managedFields?.some(({ manager = '' }) => makers.includes(manager)) === true;
}

/** The second makes the policies of pods that outlive their workload. */
const makers: readonly string[] = [fieldManagers.networkPolicy, fieldManagers.agentCard];

/** What is kept of the record of field managers: that our apply is in it. */
const ourMark: readonly ManagedFields[] = Object.freeze([
  Object.freeze({ manager: fieldManagers.networkPolicy, operation: 'Apply' }),
]);

/**
 * The mark that our server-side apply leaves in the API server's own record, while one field is as we wrote it: a patch of spec, owners and
 * labels at once does not take it away, and an object of somebody else's never has it.
 */
export function markOf({ metadata }: NetworkPolicy): readonly ManagedFields[] {
  const isMarked = metadata.managedFields?.some(
    ({ manager, operation }) => manager === fieldManagers.networkPolicy && operation === 'Apply',
  );
  return isMarked === true ? ourMark : [];
}

/** By that record alone: anybody may give a policy our labels, and a card for its owner. */
export function isOurs(policy: NetworkPolicy): boolean {
  return markOf(policy).length > 0;
}

/** It looks like ours and is not on record as such: restored from a backup, copied, or its record was taken away. */
export function isUnrecorded(policy: NetworkPolicy): boolean {
  const { [labels.managedBy]: by, [labels.policyType]: type } = policy.metadata.labels ?? {};
  return !isOurs(policy) && by === managedBy && type === policyType;
}
