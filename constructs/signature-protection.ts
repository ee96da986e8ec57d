/** The admission policy that keeps `agent.rossoctl.dev/signature-verified` for the operator: a verdict is given, never claimed. */

import type { Construct } from 'constructs';
import { labels, policies } from '../runtime/api/names.ts';
import { type LabelPlace, podResources, workloadResources } from './label-places.ts';
import { type OperatorAccount, OperatorLabelPolicy } from './operator-label.ts';

/** Props of `SignatureProtection`. */
export interface SignatureProtectionProps extends OperatorAccount {
  /** Accounts of the cluster's other operators. */
  readonly others: () => readonly OperatorAccount[];
}

/**
 * ValidatingAdmissionPolicy `signature-label-protection` and its binding, on pods and every kind that makes them from a template.
 *
 * No controller is excepted: no template can carry the label, so none has anything to copy. It holds in every namespace, whichever
 * the operator watches, because network policies believe the label wherever a pod runs (docs/decisions, "What namespaced mode
 * still grants cluster-wide"). So a cluster has one, and it names the operators of all its installs.
 */
export class SignatureProtection extends OperatorLabelPolicy {
  constructor(scope: Construct, id: string, { others, ...account }: SignatureProtectionProps) {
    super(scope, id, account, {
      name: policies.signatureProtection,
      label: labels.signatureVerified,
      resources: [...workloadResources, podResources],
      namespaceSelector: {},
      alsoOf: others,
      message: `${labels.signatureVerified} is set by the operator alone: leave it out`,
      messageAt,
    });
  }
}

/** Names the value, the place and what to do instead. */
function messageAt({ id, where }: LabelPlace): string {
  const label = `"the label ${labels.signatureVerified}=" + string(variables.${id}[0])`;
  return `${label} + " on the ${where} may not be set by hand: leave it out, the operator sets it on pods whose signature it has verified"`;
}
