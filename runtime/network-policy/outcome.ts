/** What becomes of an AgentCard's network: the policy to be written, or what stands in its way; each with a reason for people. */

import type { AgentCardStatus } from '../api/agent-card.ts';
import type { agentCardReasons, Finding } from '../api/conditions.ts';
import type { LabelSelector, NetworkPolicy } from '../api/kubernetes.ts';
import { operatorPodLabels } from '../api/names.ts';
import { isSameTarget } from '../api/target-ref.ts';
import type { Observed } from './observed.ts';
import { controllingCard, isUnrecorded } from './ownership.ts';
import { openedFor, permissiveRules, type PolicyFacts, restrictiveRules } from './policies.ts';
import { conditionsOf } from '../workload/calmed.ts';
import type { Target } from '../workload/find.ts';
import { isEverything, isSameSelector, selectorOf, selects } from '../workload/selector.ts';
import { judgedPart } from '../workload/verdicts.ts';
import { verdictOf } from './verdict.ts';

export const conditionType = 'NetworkPolicyReady';
export type Reason = (typeof agentCardReasons)[typeof conditionType][number];

/** The one condition that is said here. */
export function own(status: AgentCardStatus): AgentCardStatus {
  return { conditions: conditionsOf(status, [conditionType]) };
}

export interface Outcome {
  readonly finding: Finding;
  /** What is to be there; absent: whatever is there stands. */
  readonly policy?: PolicyFacts;
  /** The card's policy has lost its sense and goes. */
  readonly isWithdrawn?: boolean;
  /** Look again after this long: only for what time alone changes. */
  readonly afterMs?: number | undefined;
}

/** While a kind cannot be read or another card holds the name, nothing may tell us that this has ended. */
export const lookAgainMs = 30_000;

/** Of the card that counts. */
export function outcomeOf(observed: Observed, now: Date): Outcome {
  const { policy, isOurs } = observed;
  if (policy !== undefined && !isOurs) return notOurs(policy);
  const selection = selectionOf(observed);
  if ('finding' in selection) return selection;
  const outcome = judged(observed, selection, now);
  return usesHostNetwork(observed.target) ? { ...outcome, finding: unenforced(observed) } : outcome;
}

/** Left as it is. Which of the two, only its labels say, so neither is taken over. */
function notOurs(policy: NetworkPolicy): Outcome {
  const { name } = policy.metadata;
  if (!isUnrecorded(policy)) {
    const remedy = 'rename or delete it, and the agent’s own takes its place';
    return hindered('NameTaken', `NetworkPolicy ${name} is not the operator’s and is left as it is: ${remedy}.`);
  }
  const why = 'the API server has no record that the operator wrote it, as after a restore or a copy';
  const message = `NetworkPolicy ${name} has the operator’s labels, but ${why}. It is left as it is, and the agent is as open as it says: delete it, and the agent’s own takes its place.`;
  return hindered('Unenforced', message);
}

function usesHostNetwork(target: Target): boolean {
  return 'found' in target && target.found.row.template(target.found.object)?.spec?.hostNetwork === true;
}

/** The policy is written all the same: it holds from the first pod that no longer does so. */
function unenforced({ card }: Observed): Finding {
  const { kind, name } = card.spec.targetRef;
  const message = `${kind} ${name} uses the host’s network, where no NetworkPolicy applies: its pods reach and are reached by whatever their node is, verified or not. Remove spec.template.spec.hostNetwork.`;
  return { type: conditionType, status: 'False', reason: 'HostNetwork' satisfies Reason, message };
}

function hindered(reason: Reason, message: string, more: Omit<Outcome, 'finding'> = {}): Outcome {
  return { finding: { type: conditionType, status: 'False', reason, message }, ...more };
}

/** The pods that the policy is for, or why there are none. */
function selectionOf(observed: Observed): LabelSelector | Outcome {
  const { card, target, holder, name, surroundings } = observed;
  if ('unsupported' in target) return hindered('TargetUnsupported', `${target.unsupported}.`, { isWithdrawn: true });
  const { kind, name: workload } = card.spec.targetRef;
  const selector = 'found' in target ? selectorOf(target.found) : standingSelector(observed);
  if (selector === undefined) return unselected(observed);
  if (isEverything(selector)) return withoutSelector(kind, workload);
  if (holder !== undefined && !isForUs(observed, selector)) {
    const message = `NetworkPolicy ${name} is still that of AgentCard ${holder.metadata.name ?? ''}; it is waited for.`;
    return hindered('NameHeld', message, { afterMs: lookAgainMs });
  }
  const isOperator = card.metadata.namespace === surroundings.operatorNamespace && selects(selector, operatorPodLabels);
  if (!isOperator) return selector;
  const message = `${kind} ${workload} selects the operator’s own pods, which no policy may cut off.`;
  return hindered('SelectsOperator', message, { isWithdrawn: true });
}

/** Pods may outlive their workload: the policy that is there goes on selecting them, and goes on following the verdict. */
function standingSelector({ card, policy, holder }: Observed): LabelSelector | undefined {
  const isHeldByOther = holder !== undefined && !isSameTarget(holder.spec.targetRef, card.spec.targetRef);
  return isHeldByOther ? undefined : policy?.spec?.podSelector;
}

function unselected({ card, target }: Observed): Outcome {
  const { kind, name } = card.spec.targetRef;
  return 'unreadable' in target
    ? hindered('TargetUnavailable', `${kind} ${name} cannot be read: ${target.unreadable}.`, { afterMs: lookAgainMs })
    : hindered('TargetNotFound', `${kind} ${name} does not exist; its policy follows when it does.`);
}

function withoutSelector(kind: string, name: string): Outcome {
  const message = `${kind} ${name} has no pod selector of its own, by which a policy could find its pods and no others.`;
  return hindered('NoPodSelector', message, { isWithdrawn: true });
}

/** The other card has lost this workload to ours, or has left a policy behind that selects the very same pods: it is taken over in one write. */
function isForUs({ card, holder, policy }: Observed, selector: LabelSelector): boolean {
  const ref = holder?.spec.targetRef;
  if (ref !== undefined && isSameTarget(ref, card.spec.targetRef)) return true;
  return isSameSelector(policy?.spec?.podSelector, selector);
}

function judged(observed: Observed, podSelector: LabelSelector, now: Date): Outcome {
  const { card, name, policy, surroundings, problems } = observed;
  const { kind, name: workload } = card.spec.targetRef;
  const isMine = policy !== undefined && controllingCard(policy)?.uid === card.metadata.uid;
  const opened = isMine ? openedFor(policy) : undefined;
  const verdict = verdictOf(card, now, { reached: observed.verdict, opened });
  const facts = { card, name, podSelector, uid: policy?.metadata.uid };
  const closed: PolicyFacts = { ...facts, rules: restrictiveRules(surroundings) };
  if (!verdict.isOpen) {
    const message = `${kind} ${workload} may reach DNS and the operator alone: ${verdict.why}.`;
    return { finding: { type: conditionType, status: 'True', reason: 'Restrictive', message }, policy: closed };
  }
  const { afterMs } = verdict;
  const [problem] = problems;
  if (problem !== undefined) {
    const isStanding = opened !== undefined && isSameSelector(policy?.spec?.podSelector, podSelector);
    return isStanding ? standing(name, problem.message, afterMs) : unconfigured(problem.message, closed);
  }
  const message = `${kind} ${workload} is open to verified agents.`;
  return {
    finding: { type: conditionType, status: 'True', reason: 'Permissive', message },
    policy: { ...facts, rules: permissiveRules(surroundings), verdictFor: judgedPart(card) },
    afterMs,
  };
}

/** What a permissive policy would have to say is not known: one that was written when it was stands, and none is made up. */
function standing(name: string, problem: string, afterMs: number | undefined): Outcome {
  return hindered('ConfigInvalid', `NetworkPolicy ${name} stays open as it is: ${problem}`, { afterMs });
}

function unconfigured(problem: string, closed: PolicyFacts): Outcome {
  return hindered('ConfigInvalid', `The network stays closed: ${problem}`, { policy: closed });
}
