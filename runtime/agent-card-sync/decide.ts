/** What was observed of a workload and its cards → what is written. A card's spec never is, once the card exists. */

import type { AgentCard } from '../api/agent-card.ts';
import { kinds } from '../api/kinds.ts';
import type { Notice, ObjectRef, Plan } from '../engine/types.ts';
import type { Workload } from '../workload/workload.ts';
import { generatedCard, ownersWith } from './generated-card.ts';
import type { Observed } from './observed.ts';
import { type Step, stepOf } from './step.ts';

export function decide(observed: Observed): Plan<never> {
  const { workload } = observed;
  const step = stepOf(observed);
  switch (step.kind) {
    case 'create':
      return { create: [generatedCard(workload)] };
    case 'own':
      return { patch: [{ target: refOf(step.card), body: { metadata: ownersOf(step.card, workload) } }] };
    case 'withdraw':
      return withdrawal(step, observed);
    case 'taken':
      return { notices: [taken(step.card, workload)] };
    default:
      return {};
  }
}

/** The list is replaced as a whole: guarded by the version that was seen, so that an owner somebody adds meanwhile is not lost. */
function ownersOf(card: AgentCard, workload: Workload): Readonly<Record<string, unknown>> {
  return { ownerReferences: ownersWith(card, workload), resourceVersion: card.metadata.resourceVersion };
}

type Withdrawal = Extract<Step, { kind: 'withdraw' }>;

const reasons = {
  HandMade: 'the workload has an AgentCard of its own',
  NotAnAgent: 'the workload is no agent with a protocol label any more',
} as const;

/** What a card that is not withdrawn does meanwhile. */
const effects = {
  HandMade: 'The other one counts as long as both are there',
  NotAnAgent: 'Where network policies are enforced it keeps the workload closed',
} as const;

function withdrawal(step: Withdrawal, { workload, appliedOverBy }: Observed): Plan<never> {
  const { card, why } = step;
  const { ref } = workload;
  if (appliedOverBy !== undefined) return { notices: [kept(step, { ref, by: appliedOverBy })] };
  return {
    remove: [refOf(card)],
    notices: [
      {
        type: 'Normal',
        reason: 'CardWithdrawn',
        action: 'Withdraw',
        note: `The generated AgentCard ${card.metadata.name} of ${ref.kind} ${ref.name} was deleted: ${reasons[why]}.`,
      },
    ],
  };
}

function kept({ card, why }: Withdrawal, { ref, by }: { readonly ref: Workload['ref']; readonly by: string }): Notice {
  const { name } = card.metadata;
  return {
    type: 'Warning',
    reason: 'CardNotWithdrawn',
    action: 'Withdraw',
    note: `${sentenceOf(reasons[why])}, and the generated AgentCard ${name} of ${ref.kind} ${ref.name} was not deleted, because ${by} has written its spec. ${effects[why]}. Delete AgentCard ${name} unless it is wanted.`,
  };
}

const sentenceOf = (clause: string): string => `${clause.charAt(0).toUpperCase()}${clause.slice(1)}`;

/** Told when something changed: the next pass comes with a change of that card or of the workload, not with time. */
function taken({ metadata, spec }: AgentCard, { ref }: Workload): Notice {
  const { name } = metadata;
  const { targetRef: theirs } = spec;
  return {
    type: 'Warning',
    reason: 'CardNameTaken',
    action: 'CreateCard',
    note: `${ref.kind} ${ref.name} gets no AgentCard, so neither a verdict nor a network policy: the name ${name} is taken by one that targets ${theirs.kind} ${theirs.name} (${theirs.apiVersion}). Rename that one, or make one of another name with targetRef ${ref.kind} ${ref.name}.`,
  };
}

function refOf({ metadata }: AgentCard): ObjectRef {
  const { namespace, name = '', uid } = metadata;
  return { kind: kinds.agentCard, namespace, name, uid };
}
