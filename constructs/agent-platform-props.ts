/** Everything that can be said about an install of the platform, with every default. */

import type { FeatureGates } from '../runtime/config/feature-gates.ts';
import type { PartialConfig } from '../runtime/config/platform.ts';
import type { CertificateSource } from './certificates.ts';
import type { OperatorAccount } from './operator-label.ts';
import type { ResourceQuantities } from './resource-quantities.ts';
import type { CardFetchProps, NetworkPolicyProps, VerificationProps } from './verification.ts';
import type { WatchScope } from './watched-namespaces.ts';

/** How fast the operator may ask the API server. */
export interface ApiRequestProps {
  /**
   * Requests a second.
   * @default 400
   */
  readonly qps?: number;
  /**
   * Requests at once above that rate.
   * @default 800
   */
  readonly burst?: number;
}

/** Props of `AgentPlatform`. */
export interface AgentPlatformProps {
  /** Image of the operator. In production by digest: `registry/rossoctl@sha256:…`. */
  readonly image: string;
  /**
   * When the kubelet pulls the image.
   * @default 'IfNotPresent'
   */
  readonly imagePullPolicy?: 'Always' | 'IfNotPresent' | 'Never';
  /**
   * Names of pull Secrets in the operator's namespace.
   * @default none
   */
  readonly imagePullSecrets?: readonly string[];
  /**
   * The operator's namespace.
   * @default 'rossoctl-system'
   */
  readonly namespace?: string;
  /**
   * Make the operator's Namespace object. Switch off when someone else owns it.
   * @default true
   */
  readonly createNamespace?: boolean;
  /**
   * The account the operator runs as; without an instance the names of its roles begin with it.
   * @default 'rossoctl-operator', with an instance 'rossoctl-operator-INSTANCE'
   */
  readonly serviceAccountName?: string;
  /**
   * Name of the operator's Deployment.
   * @default 'rossoctl-operator'
   */
  readonly deploymentName?: string;
  /**
   * Which namespaces the operator looks after. `namespaced` renders a Role in each listed namespace and no cluster-wide right
   * but the cluster-scoped ones that features declare.
   * @default { kind: 'cluster' }: all of them
   */
  readonly watch?: WatchScope;
  /**
   * Which of several installs of the cluster this is, for example one a group of tenants: its cluster-wide objects have the instance in their
   * names, and all of its objects have it as label `rossoctl.io/instance`. Needs `namespaced`, a `namespace` of its own, and namespaces
   * that no other install watches.
   * @default none: names without an instance, as the only install has them
   */
  readonly instance?: string;
  /**
   * Who installs what the installs of a cluster have in common, the CustomResourceDefinitions and the policy that protects the verdict on
   * signatures: this one, or with `shared` another one. One must; the others can come and go.
   * @default 'install'
   */
  readonly crds?: 'install' | 'shared';
  /**
   * Accounts of the cluster's operators with `crds: shared` that other apps install: they too may label pods with their verdicts. Those of the
   * same app are known.
   * @default none
   */
  readonly operators?: readonly OperatorAccount[];
  /**
   * Inject only in namespaces labelled `rossoctl-enabled: "true"`.
   * @default false
   */
  readonly requireNamespaceLabel?: boolean;
  /**
   * Who makes the webhooks' certificate. `cert-manager` must then be in the cluster.
   * @default 'self-managed': the operator makes and rotates it
   */
  readonly certificates?: CertificateSource;
  /**
   * Replicas of the operator: all serve webhooks, one runs controllers.
   * @default 2
   */
  readonly replicas?: number;
  /**
   * Requests and limits of the operator's container.
   * @default requests 50m CPU and 128Mi, limit 256Mi
   */
  readonly resources?: ResourceQuantities;
  /**
   * PriorityClass of the operator's pods; with webhooks that fail closed, `system-cluster-critical` is a fair choice.
   * @default none
   */
  readonly priorityClassName?: string;
  /**
   * From which level on the operator logs.
   * @default 'info'
   */
  readonly logLevel?: 'debug' | 'info' | 'warn' | 'error';
  /**
   * How fast the operator may ask the API server.
   * @default the operator's own: 400 requests a second, 800 at once
   */
  readonly apiRequests?: ApiRequestProps;
  /**
   * Whether and how the signatures of agent cards are verified.
   * @default cards are fetched and shown, no signature is verified
   */
  readonly verification?: VerificationProps;
  /**
   * How agent cards are fetched.
   * @default 64 at once, each given up after 10 seconds
   */
  readonly cardFetches?: CardFetchProps;
  /**
   * Whether the network follows the verdicts on cards.
   * @default no NetworkPolicies
   */
  readonly networkPolicies?: NetworkPolicyProps;
  /**
   * Platform configuration that differs from the compiled defaults, as ConfigMap `rossoctl-platform-config`.
   * @default no ConfigMap
   */
  readonly config?: PartialConfig;
  /**
   * Feature gates that differ from their defaults, as ConfigMap `rossoctl-feature-gates`.
   * @default no ConfigMap
   */
  readonly featureGates?: Partial<FeatureGates>;
}
