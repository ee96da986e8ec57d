/** Which changes of the conditions are worth a Kubernetes event: one a change, none while nothing changes (OB-02). */

import { type Condition, conflictReasons } from '../api/conditions.ts';
import type { Notice } from '../engine/types.ts';

interface Row {
  readonly type: string;
  readonly reasons: readonly string[];
  /** The event's reason; default: the condition's. */
  readonly reason?: string;
  readonly notice: Notice['type'];
  readonly action: string;
  /** A new message under the same reason is news too, for example another broken line. */
  readonly onMessage: boolean;
  /** Worth an event only when it was once different: part of every first enrolment otherwise. */
  readonly onlyLater?: boolean;
  /** The end of this reason is no news: a platform change would cost one event a workload. */
  readonly notAfter?: string;
}

const rows: readonly Row[] = [
  ready(['Configured'], 'ApplyConfig', { notice: 'Normal', notAfter: 'RolloutPending' }),
  ready(
    [
      'TargetNotFound',
      'TargetUnavailable',
      'TargetUnsupported',
      'TargetImmutable',
      'SystemNamespace',
      'DuplicateTarget',
    ],
    'ResolveTarget',
    {
      onMessage: true,
    },
  ),
  ready(['ConfigInvalid', 'ConfigUnavailable'], 'ResolveConfig', { onMessage: true }),
  ready([...conflictReasons, 'FieldConflict'], 'ApplyConfig', {}),
  ready(['PodsRefused', 'RolloutStalled'], 'SweepPods', {}),
  { type: 'ConfigResolved', reasons: ['ConfigWarning'], notice: 'Warning', action: 'ResolveConfig', onMessage: true },
  {
    type: 'SkillsResolved',
    reasons: ['SkillsInvalid'],
    reason: 'SkillAnnotationParseError',
    notice: 'Warning',
    action: 'ReadLinkedSkills',
    onMessage: false,
  },
  { type: 'PodsInjected', reasons: ['PodsWithoutSidecars'], notice: 'Warning', action: 'SweepPods', onMessage: false },
  {
    type: 'SpiffeReady',
    reasons: ['SpiffeUnavailable'],
    notice: 'Warning',
    action: 'ResolveIdentity',
    onMessage: false,
    onlyLater: true,
  },
];

function ready(reasons: readonly string[], action: string, more: Partial<Row>): Row {
  return { type: 'Ready', reasons, action, notice: 'Warning', onMessage: false, ...more };
}

export function notices(before: readonly Condition[], after: readonly Condition[]): readonly Notice[] {
  const old = new Map(before.map((condition) => [condition.type, condition]));
  return after.flatMap((condition) => {
    const row = rows.find(({ type, reasons }) => type === condition.type && reasons.includes(condition.reason));
    if (row === undefined || !isNews(row, old.get(condition.type), condition)) return [];
    const { notice: type, action, reason = condition.reason } = row;
    return [{ type, reason, action, note: condition.message }];
  });
}

function isNews(row: Row, old: Condition | undefined, now: Condition): boolean {
  if (old === undefined) return row.onlyLater !== true;
  return (old.reason !== now.reason && old.reason !== row.notAfter) || (row.onMessage && old.message !== now.message);
}
