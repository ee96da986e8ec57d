/** What an install says about the agents' cards: how they are fetched and verified, and whether the network follows the verdict. */

import { Type } from 'typebox';
import { type BindingScope, bindingScopes } from '../runtime/api/agent-card.ts';
import { TrustDomain } from '../runtime/api/agent-runtime.ts';
import { oneOf } from '../runtime/api/schema.ts';
import type { Violation } from '../runtime/config/violation.ts';
import { NamespaceName, ObjectName } from './prop-schemas.ts';

/** Where the trust bundle of SPIRE is published: a ConfigMap with the authorities whose identities may sign. */
export interface TrustBundleSource {
  /**
   * Name of the ConfigMap.
   * @default 'spire-bundle'
   */
  readonly name?: string;
  /**
   * Namespace of the ConfigMap. The operator gets a Role in it, so it must exist when the install is applied.
   * @default 'spire'
   */
  readonly namespace?: string;
  /**
   * Key of the bundle, in PEM or as a SPIFFE bundle.
   * @default bundle.crt, then bundle.spiffe, then the only key
   */
  readonly key?: string;
}

/** Whether and how the signatures of agent cards are verified. */
export interface VerificationProps {
  /**
   * Verify the signature of every agent's card against the trust bundle, and label the pods of those that hold.
   * @default false: cards are fetched and shown, nobody is verified
   */
  readonly requireSignature?: boolean;
  /**
   * Report verdicts without acting on them: no label on pods, and no NetworkPolicy even with `networkPolicies.enforce`. For the time in which
   * agents learn to sign; needs `requireSignature`.
   * @default false
   */
  readonly audit?: boolean;
  /**
   * Forms of the signed payload that are accepted: all that known signers make, or RFC 8785 over the card as it is served alone.
   * @default 'all'
   */
  readonly profiles?: 'all' | 'jcs';
  /**
   * Trust domain whose identities may sign.
   * @default `spiffe.trustDomain` of the platform's configuration
   */
  readonly trustDomain?: string;
  /**
   * How much of the signer's identity must agree where an AgentCard does not say: any identity of the trust domain, or `workload`, the very
   * ServiceAccount of the workload that serves the card. With the first, another agent can serve a copy of a signed card.
   * @default 'trustDomain'
   */
  readonly scope?: BindingScope;
  /**
   * Where the authorities are whose identities may sign.
   * @default ConfigMap `spire-bundle` in namespace `spire`
   */
  readonly trustBundle?: TrustBundleSource;
  /**
   * Sync periods without contact to an agent after which the verdict on its card is withdrawn.
   * @default 3
   */
  readonly syncPeriods?: number;
}

/** How agents' cards are fetched. */
export interface CardFetchProps {
  /**
   * Cards fetched at once.
   * @default 64
   */
  readonly atOnce?: number;
  /**
   * After how long a fetch is given up.
   * @default 10
   */
  readonly timeoutSeconds?: number;
}

/** Whether the network follows the verdicts. */
export interface NetworkPolicyProps {
  /**
   * Keep a NetworkPolicy for each agent with a card: open among verified agents, closed for all others. Needs
   * `verification.requireSignature`, and a network plug-in that enforces policies.
   * @default false
   */
  readonly enforce?: boolean;
}

const optional = Type.Optional;

/** A row a prop. */
export const verificationSchemas = {
  verification: optional(
    Type.Object({
      requireSignature: optional(Type.Boolean()),
      audit: optional(Type.Boolean()),
      profiles: optional(oneOf(['all', 'jcs'])),
      trustDomain: optional(TrustDomain),
      scope: optional(oneOf(bindingScopes)),
      trustBundle: optional(
        Type.Object({
          name: optional(ObjectName),
          namespace: optional(NamespaceName),
          key: optional(
            Type.String({
              minLength: 1,
              maxLength: 253,
              pattern: '^[-._a-zA-Z0-9]+$',
              description:
                'Key of a ConfigMap, of letters, digits, dashes, dots and underscores, for example bundle.crt.',
            }),
          ),
        }),
      ),
      syncPeriods: optional(Type.Number({ minimum: 1, maximum: 1000 })),
    }),
  ),
  cardFetches: optional(
    Type.Object({
      atOnce: optional(Type.Integer({ minimum: 1, maximum: 1024 })),
      timeoutSeconds: optional(Type.Number({ minimum: 1, maximum: 300 })),
    }),
  ),
  networkPolicies: optional(Type.Object({ enforce: optional(Type.Boolean()) })),
} as const;

/** The three props that say how cards are dealt with. */
export interface CardProps {
  readonly verification?: VerificationProps | undefined;
  readonly cardFetches?: CardFetchProps | undefined;
  readonly networkPolicies?: NetworkPolicyProps | undefined;
}

/** What props of the right shape can still get wrong together: acting on a verdict that nobody ever gives. */
export function verificationViolations({ verification = {}, networkPolicies = {} }: CardProps): readonly Violation[] {
  if (verification.requireSignature === true) return [];
  const { requireSignature: _, audit: __, ...idle } = verification;
  const unused = Object.entries(idle).filter(([, value]) => value !== undefined);
  const remedy = 'set verification.requireSignature: true';
  const closed =
    'needs verified signatures: without them every agent counts as unverified and none could reach another';
  const inVain = 'reports verdicts on signatures, and without requireSignature there are none';
  return [
    ...(networkPolicies.enforce === true
      ? [
          {
            path: 'networkPolicies.enforce',
            message: `${closed}; ${remedy} (with verification.audit: true until the agents sign their cards), or leave enforce out`,
          },
        ]
      : []),
    ...unused.map(([name]) => ({
      path: `verification.${name}`,
      message: `says nothing while no signature is verified; ${remedy}, or leave ${name} out`,
    })),
    ...(verification.audit === true
      ? [{ path: 'verification.audit', message: `${inVain}; ${remedy}, or leave audit out` }]
      : []),
  ];
}

/** Where the bundle is, with the operator's own defaults. */
export function trustBundleOf({ trustBundle = {} }: VerificationProps): {
  readonly namespace: string;
  readonly name: string;
} {
  return { namespace: trustBundle.namespace ?? 'spire', name: trustBundle.name ?? 'spire-bundle' };
}

/** Flags of the operator; a prop that is absent leaves the operator's own default. */
export function verificationFlags(props: CardProps): Readonly<Record<string, string | number>> {
  const { verification = {}, cardFetches = {}, networkPolicies = {} } = props;
  const { name, namespace, key } = verification.trustBundle ?? {};
  const all = {
    'require-a2a-signature': on(verification.requireSignature),
    'signature-audit-mode': on(verification.audit),
    'signature-profiles': verification.profiles,
    'spire-trust-domain': verification.trustDomain,
    'identity-binding-scope': verification.scope,
    'spire-trust-bundle-configmap': name,
    'spire-trust-bundle-configmap-namespace': namespace,
    'spire-trust-bundle-configmap-key': key,
    'verdict-sync-periods': verification.syncPeriods,
    'card-fetches-at-once': cardFetches.atOnce,
    'card-fetch-timeout-seconds': cardFetches.timeoutSeconds,
    'enforce-network-policies': on(networkPolicies.enforce),
  };
  return Object.fromEntries(
    Object.entries(all).flatMap(([flag, value]) => (value === undefined ? [] : [[flag, value]])),
  );
}

function on(value: boolean | undefined): string | undefined {
  return value === true ? 'true' : undefined;
}
