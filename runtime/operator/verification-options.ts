/** The options about agent cards: how they are fetched and verified, and what follows from the verdict. */

import { agentCardDefaults, type BindingScope, bindingScopes } from '../api/agent-card.ts';
import type { VerificationOptions } from '../agent-card/controller.ts';
import { boolean, type Option, oneOf, option, positive, text, trustDomain } from './option-values.ts';

/** Of a process that looks at no signature, as an operator does where none is required. */
export const noVerification: VerificationOptions = {
  isRequired: false,
  isAudit: false,
  profiles: 'all',
  trustDomain: '',
  scope: agentCardDefaults.scope,
  bundle: { namespace: '', name: '', key: '' },
  verdictSyncPeriods: 1,
};

export const verificationOptions = {
  requireSignature: option({
    flag: 'require-a2a-signature',
    default: false,
    placeholder: 'BOOL',
    help: 'verify the signatures of agent cards against the SPIRE trust bundle',
    parse: boolean,
  }),
  signatureAudit: option({
    flag: 'signature-audit-mode',
    default: false,
    placeholder: 'BOOL',
    help: 'report verdicts on signatures without acting on them: no label, no NetworkPolicy',
    parse: boolean,
  }),
  signatureProfiles: option({
    flag: 'signature-profiles',
    default: 'all' as const,
    placeholder: 'WHICH',
    help: 'forms of the signed payload that are accepted: all, or jcs for RFC 8785 over the card as served',
    parse: oneOf('all', 'jcs'),
  } as Option<'all' | 'jcs'>),
  trustDomain: option({
    flag: 'spire-trust-domain',
    env: 'ROSSOCTL_SPIRE_TRUST_DOMAIN',
    default: '',
    placeholder: 'NAME',
    help: "trust domain whose identities may sign; default: the platform configuration's spiffe.trustDomain",
    parse: trustDomain,
  }),
  bindingScope: option({
    flag: 'identity-binding-scope',
    default: agentCardDefaults.scope,
    placeholder: 'SCOPE',
    help: 'how much of the identity must agree where a card does not say: trustDomain, or workload for its own ServiceAccount',
    parse: oneOf(...bindingScopes),
  } as Option<BindingScope>),
  trustBundleConfigMap: option({
    flag: 'spire-trust-bundle-configmap',
    default: 'spire-bundle',
    placeholder: 'NAME',
    help: 'ConfigMap with the trust bundle',
    parse: text,
  }),
  trustBundleNamespace: option({
    flag: 'spire-trust-bundle-configmap-namespace',
    default: 'spire',
    placeholder: 'NAME',
    help: 'its namespace',
    parse: text,
  }),
  trustBundleKey: option({
    flag: 'spire-trust-bundle-configmap-key',
    default: '',
    placeholder: 'KEY',
    help: 'its key; default: bundle.crt, then bundle.spiffe, then the only one',
    parse: text,
  }),
  enforceNetworkPolicies: option({
    flag: 'enforce-network-policies',
    default: false,
    placeholder: 'BOOL',
    help: 'open or close the network of each agent by the verdict on its card',
    parse: boolean,
  }),
  verdictSyncPeriods: option({
    flag: 'verdict-sync-periods',
    default: 3,
    placeholder: 'N',
    help: 'sync periods without contact after which a verdict on a card is withdrawn',
    parse: positive,
  }),
  cardFetches: option({
    flag: 'card-fetches-at-once',
    default: 64,
    placeholder: 'N',
    help: 'agent cards fetched at once',
    parse: positive,
  }),
  cardTimeoutSeconds: option({
    flag: 'card-fetch-timeout-seconds',
    default: 10,
    placeholder: 'N',
    help: 'after how long a fetch of an agent card is given up',
    parse: positive,
  }),
} as const;
