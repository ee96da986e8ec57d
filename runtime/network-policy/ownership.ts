/** Whose a NetworkPolicy is: an AgentCard's, ours without a card, or a user's. */

import type { NetworkPolicy } from '../api/kubernetes.ts';
import { kinds } from '../api/kinds.ts';
import { apiGroup, labels, managedBy, policyType } from '../api/names.ts';
import { groupOf } from '../api/target-ref.ts';
import type { OwnerReference } from '../engine/types.ts';

/** The AgentCard that controls it. */
export function controllingCard({ metadata }: NetworkPolicy): OwnerReference | undefined {
  return metadata.ownerReferences?.find(
    ({ apiVersion, kind, controller }) =>
      controller === true && kind === kinds.agentCard.kind && groupOf(apiVersion) === apiGroup,
  );
}

/** Made by this operator, now or before a restore from a backup: controlled by an AgentCard, or with our labels and by nobody else. */
export function isOurs(policy: NetworkPolicy): boolean {
  if (controllingCard(policy) !== undefined) return true;
  const { labels: own, ownerReferences = [] } = policy.metadata;
  const isLabelled = own?.[labels.managedBy] === managedBy && own?.[labels.policyType] === policyType;
  return isLabelled && !ownerReferences.some(({ controller }) => controller === true);
}
