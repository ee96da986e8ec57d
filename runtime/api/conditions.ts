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

/** Every reason an AgentRuntime's conditions can have, by condition type. */
export const agentRuntimeReasons = {
  TargetResolved: ['TargetFound', 'TargetNotFound', 'TargetUnavailable', 'TargetUnsupported', 'TargetImmutable'],
  ConfigResolved: ['ConfigResolved', 'ConfigWarning', 'ConfigInvalid', 'ConfigUnavailable'],
  Ready: [
    'Configured',
    'TargetNotFound',
    'TargetUnavailable',
    'TargetUnsupported',
    'TargetImmutable',
    'ConfigInvalid',
    'ConfigUnavailable',
    'DuplicateTarget',
    'FieldConflict',
    'PodSecurityConflict',
    'RolloutPending',
  ],
  PodsInjected: ['AllInjected', 'PodsWithoutSidecars', 'PodsOutdated', 'OlderDefaults', 'InjectionOff'],
  SpiffeReady: ['SpiffeAvailable', 'SpiffeUnavailable', 'SpiffeDisabled'],
  /** Present only while the gate `skillDiscovery` is on. */
  SkillsResolved: ['SkillsFound', 'SkillsInvalid'],
} as const;

/**
 * Merges findings into the previous conditions: one entry a type, sorted by type, `lastTransitionTime` kept unless the status flipped.
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
      const lastTransitionTime = old?.status === finding.status ? old.lastTransitionTime : at;
      return { ...finding, lastTransitionTime, ...(observedGeneration === undefined ? {} : { observedGeneration }) };
    })
    .sort((a, b) => (a.type < b.type ? -1 : 1));
}
