/** Whose signature counts for a card: the trust domain, how much of the SPIFFE ID must agree, and what follows when it does not. */

import { type AgentCard, agentCardDefaults } from '../api/agent-card.ts';
import { spiffeId } from '../api/names.ts';
import type { Workload } from '../workload/workload.ts';

/** The trust domain of the install, or a sentence saying why it is not known. */
export type TrustDomain = { readonly name: string } | { readonly unknown: string };

export interface Binding {
  readonly trustDomain: TrustDomain;
  /** Namespace and ServiceAccount must agree, too. */
  readonly workload: { readonly namespace: string; readonly serviceAccount: string } | undefined;
  /** An identity that does not agree withholds verification; else it is only reported. */
  readonly isStrict: boolean;
  /** The card itself says so: the result is a condition of its own. */
  readonly isAsked: boolean;
}

/** Without `spec.identityBinding`: any identity of the install's trust domain, strictly. */
export function bindingOf(card: AgentCard, workload: Workload | undefined, install: TrustDomain): Binding {
  const asked = (card as Partial<AgentCard>).spec?.identityBinding;
  const { scope = agentCardDefaults.scope, strict = agentCardDefaults.strict, trustDomain } = asked ?? {};
  const isWorkload = scope === 'workload' && workload !== undefined;
  return {
    trustDomain: trustDomain === undefined ? install : { name: trustDomain },
    workload: isWorkload
      ? { namespace: workload.namespace, serviceAccount: workload.serviceAccount ?? 'default' }
      : undefined,
    isStrict: strict,
    isAsked: asked !== undefined,
  };
}

/** Whether an identity that was verified before is still one that may sign. */
export function admits({ trustDomain, workload }: Binding, id: string): boolean {
  if ('unknown' in trustDomain) return false;
  if (workload === undefined) return id.startsWith(`spiffe://${trustDomain.name}/`);
  return id === spiffeId(trustDomain.name, workload.namespace, workload.serviceAccount);
}
