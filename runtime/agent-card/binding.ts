/** Whose signature counts for a card: the trust domain, how much of the SPIFFE ID must agree, and what follows when it does not. */

import { type AgentCard, agentCardDefaults, type BindingScope } from '../api/agent-card.ts';
import type { ExpectedIdentity } from '../signature/binding.ts';
import type { Workload } from '../workload/workload.ts';

/** The trust domain of the install, or a sentence saying why it is not known. */
export type TrustDomain = { readonly name: string } | { readonly unknown: string };

/** What the install says of cards that do not say it themselves. */
export interface InstallBinding {
  readonly trustDomain: TrustDomain;
  readonly scope: BindingScope;
}

export interface Binding {
  readonly trustDomain: TrustDomain;
  /** Namespace and ServiceAccount must agree, too. */
  readonly workload: { readonly namespace: string; readonly serviceAccount: string } | undefined;
  /** An identity that does not agree withholds verification; else it is only reported. */
  readonly isStrict: boolean;
  /** The card or the install asks for more than the trust domain: the result is a condition of its own. */
  readonly isAsked: boolean;
}

/** Without `spec.identityBinding`: what the install says, strictly. */
export function bindingOf(card: AgentCard, workload: Workload | undefined, install: InstallBinding): Binding {
  const asked = (card as Partial<AgentCard>).spec?.identityBinding;
  const { scope = install.scope, strict = agentCardDefaults.strict, trustDomain } = asked ?? {};
  const isWorkload = scope === 'workload' && workload !== undefined;
  return {
    trustDomain: trustDomain === undefined ? install.trustDomain : { name: trustDomain },
    workload: isWorkload
      ? { namespace: workload.namespace, serviceAccount: workload.serviceAccount ?? 'default' }
      : undefined,
    isStrict: strict,
    isAsked: asked !== undefined || scope === 'workload',
  };
}

/** As the verifier wants it. */
export function expectedIdentity({ trustDomain, workload }: Binding): ExpectedIdentity {
  const name = 'name' in trustDomain ? trustDomain.name : '';
  return { trustDomain: name, ...(workload === undefined ? {} : { workload }) };
}
