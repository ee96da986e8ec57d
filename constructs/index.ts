/** The public API of the constructs: the platform, and what runs on it. */

export { Agent, Tool } from './agent.ts';
export { AgentCard, type AgentCardOverrides, type AgentCardProps } from './agent-card.ts';
export { AgentNamespace, type AgentNamespaceProps } from './agent-namespace.ts';
export { AgentPlatform } from './agent-platform.ts';
export type { AgentPlatformProps, ApiRequestProps } from './agent-platform-props.ts';
export type { AgentProps } from './agent-props.ts';
export {
  AgentRuntime,
  type AgentRuntimeOverrides,
  type AgentRuntimeProps,
  type IAgentRuntime,
} from './agent-runtime.ts';
export type { CertificateSource } from './certificates.ts';
export { CustomResourceDefinitions } from './crds.ts';
export { NamespaceDefaults, type NamespaceConfig, type NamespaceDefaultsProps } from './namespace-defaults.ts';
export type { OperatorAccount } from './operator-label.ts';
export { OrganisationRule } from './organisation-rule.ts';
export { RequireDigest } from './require-digest.ts';
export type { ResourceQuantities } from './resource-quantities.ts';
export { RestrictedPods } from './restricted-pods.ts';
export type {
  CardFetchProps,
  NetworkPolicyProps,
  TrustBundleSource,
  VerificationProps,
} from './verification.ts';
export type { WatchScope } from './watched-namespaces.ts';
export type { WorkloadTarget } from './workload-target.ts';
export type { FeatureGates } from '../runtime/config/feature-gates.ts';
export type { PartialConfig } from '../runtime/config/platform.ts';
