/** The AgentCard that is made for a workload, and how it says whose it is. */

import type { AgentCard } from '../api/agent-card.ts';
import { kinds } from '../api/kinds.ts';
import { generatedCardName, labels, labelValue, managedBy } from '../api/names.ts';
import { groupOf } from '../api/target-ref.ts';
import type { Fragment, OwnerReference } from '../engine/types.ts';
import type { Workload } from '../workload/workload.ts';

const nameLabel = 'app.kubernetes.io/name';

/**
 * The spec is the target alone: what is left out has its default, and a manifest that is applied over the card later finds nothing in it
 * that it could disagree with.
 */
export function generatedCard(workload: Workload): Fragment {
  const { namespace, name, ref } = workload;
  const { apiVersion, kind } = kinds.agentCard;
  return {
    kind: kinds.agentCard,
    // Said by our own validating webhook, when somebody has just made a card for it.
    lostWhen: 'an AgentCard already targets',
    body: {
      apiVersion,
      kind,
      metadata: {
        namespace,
        name: generatedCardName(ref.kind, name),
        labels: { [labels.managedBy]: managedBy, [nameLabel]: workload.labels[nameLabel] ?? labelValue(name) },
        ownerReferences: [ownerReference(workload, true)],
      },
      spec: { targetRef: ref },
    },
  };
}

/**
 * The owners that a generated card should state instead of its present ones, for Kubernetes to delete it with the workload; undefined when
 * they do already. A reference to a former workload of the name is replaced, those to others stay.
 */
export function ownersWith({ metadata }: AgentCard, workload: Workload): readonly OwnerReference[] | undefined {
  const { ownerReferences = [] } = metadata;
  const { ref, uid } = workload;
  const isAboutIt = (owner: OwnerReference) =>
    owner.kind === ref.kind && owner.name === ref.name && groupOf(owner.apiVersion) === groupOf(ref.apiVersion);
  const about = ownerReferences.filter(isAboutIt);
  if (about.length === 1 && about[0]?.uid === uid) return undefined;
  const others = ownerReferences.filter((owner) => !isAboutIt(owner));
  // An object has one controller at most.
  return [...others, ownerReference(workload, !others.some(({ controller }) => controller === true))];
}

/** Blocks no deletion, which would take the right to change the workload's finalizers. */
function ownerReference({ ref, uid }: Workload, controller: boolean): OwnerReference {
  return { ...ref, uid, controller, blockOwnerDeletion: false };
}
