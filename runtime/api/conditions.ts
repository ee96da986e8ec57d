/** Condition types and reasons, and the one function that sets a condition without ever making it flap. */

export interface Condition {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: string;
  readonly message: string;
  readonly lastTransitionTime: string;
  readonly observedGeneration?: number;
}

/** A condition as a decision states it: when it last changed follows from the previous ones. */
export type Finding = Omit<Condition, 'lastTransitionTime' | 'observedGeneration'>;

/** Why a pod cannot be injected, or a workload's template is certain not to be. */
export const conflictReasons = [
  'UnsupportedOS',
  'ContainerNameTaken',
  'HostNetworkConflict',
  'PodSecurityConflict',
  'SpiffeUnavailable',
  'ProxyUidTaken',
  'InvalidAnnotation',
  'VolumeNameTaken',
  'MarkerForged',
] as const;

/** Every reason an AgentRuntime's conditions can have, by condition type. */
export const agentRuntimeReasons = {
  TargetResolved: [
    'TargetFound',
    'TargetNotFound',
    'TargetUnavailable',
    'TargetUnsupported',
    'TargetImmutable',
    'SystemNamespace',
  ],
  ConfigResolved: ['ConfigResolved', 'ConfigWarning', 'ConfigInvalid', 'ConfigUnavailable'],
  Ready: [
    'Configured',
    'TargetNotFound',
    'TargetUnavailable',
    'TargetUnsupported',
    'TargetImmutable',
    'SystemNamespace',
    'ConfigInvalid',
    'ConfigUnavailable',
    'DuplicateTarget',
    'FieldConflict',
    ...conflictReasons,
    'RolloutPending',
    'PodsRefused',
    'RolloutStalled',
  ],
  PodsInjected: [
    'AllInjected',
    'PodsAwaited',
    'PodsRefused',
    'RolloutStalled',
    'PodsWithoutSidecars',
    'PodsOutdated',
    'OlderDefaults',
    'InjectionOff',
  ],
  /** Present only in mode proxy-sidecar. */
  TrafficCaptured: ['ExplicitProxy'],
  SpiffeReady: ['SpiffeAvailable', 'SpiffeUnavailable', 'SpiffeDisabled'],
  /** Present only while the gate `skillDiscovery` is on. */
  SkillsResolved: ['SkillsFound', 'SkillsInvalid'],
} as const;

/** Why a card that was asked for did not come, or was none. */
export const fetchReasons = [
  'ConnectionFailed',
  'Timeout',
  'TooLarge',
  'NotJSON',
  'NotACard',
  'Redirected',
  'HTTPStatus',
] as const;
export type FetchReason = (typeof fetchReasons)[number];

/** Every reason an AgentCard's conditions can have, by condition type. */
export const agentCardReasons = {
  Synced: [
    'CardSynced',
    'DuplicateTarget',
    'WorkloadNotFound',
    'WorkloadUnavailable',
    'TargetUnsupported',
    'NotAgentWorkload',
    'NoProtocol',
    'WorkloadNotReady',
    'ServiceNotFound',
    'Fetching',
    ...fetchReasons,
  ],
  /** Present only where signatures are verified. The rest: `signatureReasons` in CamelCase (`X5cMissing`). */
  Verified: ['SignatureVerified', 'NotFetched', 'ContactLost', 'TrustBundleUnavailable', 'NotBound'],
  /** Present only when `spec.identityBinding` is. */
  Bound: ['Bound', 'TrustDomainMismatch', 'WorkloadMismatch', 'NoIdentity'],
  Ready: ['CardReady', 'NotSynced', 'NotVerified', 'CardTooLarge'],
  /** Present only where network policies are enforced, and only on the card that counts for its workload. */
  NetworkPolicyReady: [
    'Permissive',
    'Restrictive',
    'NameTaken',
    'Unenforced',
    'NameHeld',
    'SelectsOperator',
    'NoPodSelector',
    'HostNetwork',
    'TargetNotFound',
    'TargetUnavailable',
    'TargetUnsupported',
    'ConfigInvalid',
  ],
} as const;

/** Why a signature does not verify: metrics label, CLI output and, in CamelCase, condition reason. */
export const signatureReasons = [
  'malformed-json',
  'duplicate-member',
  'limit-exceeded',
  'no-signature',
  'malformed-signature',
  'crit-not-supported',
  'alg-not-allowed',
  'alg-key-mismatch',
  'x5c-missing',
  'x5c-malformed',
  'no-trust-anchors',
  'untrusted-chain',
  'expired',
  'not-yet-valid',
  'weak-key',
  'weak-signature-algorithm',
  'unsupported-critical-extension',
  'intermediate-not-ca',
  'pathlen-violated',
  'name-constraints',
  'leaf-is-ca',
  'leaf-key-usage',
  'spiffe-id-invalid',
  'signature-invalid',
  'payload-mismatch',
] as const;
export type SignatureReason = (typeof signatureReasons)[number];

/** `X5cMissing` of `x5c-missing`. */
export function conditionReason(reason: string): string {
  return reason.replaceAll(/(?:^|-)([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

/**
 * Merges findings into the previous conditions: one entry a type, sorted by type, `lastTransitionTime` kept unless the status flipped or that time is yet to come.
 * Types without a finding disappear. Messages hold no times and no counts that vary from pass to pass.
 */
export function mergeConditions(
  previous: readonly Condition[] | undefined,
  findings: readonly Finding[],
  now: Date,
  observedGeneration?: number,
): readonly Condition[] {
  const before = new Map((previous ?? []).map((condition) => [condition.type, condition]));
  const at = now.toISOString().replace(/\.\d{3}Z$/, 'Z');
  return findings
    .map((finding): Condition => {
      const old = before.get(finding.type);
      const isKept = old?.status === finding.status && !(Date.parse(old.lastTransitionTime) > now.getTime());
      const lastTransitionTime = isKept ? old.lastTransitionTime : at;
      return { ...finding, lastTransitionTime, ...(observedGeneration === undefined ? {} : { observedGeneration }) };
    })
    .sort((a, b) => (a.type < b.type ? -1 : 1));
}
