/** Which changes of a status are worth a Kubernetes event: one a change, none while nothing changes (OB-02). */

import type { AgentCardStatus } from '../api/agent-card.ts';
import { type Condition, fetchReasons } from '../api/conditions.ts';
import type { Notice } from '../engine/types.ts';

interface Row {
  readonly type: string;
  /** Undefined: every reason that no row before names. */
  readonly reasons?: readonly string[];
  /** Undefined: no event. */
  readonly notice?: Notice['type'];
  /** The event's reason; default: the condition's. */
  readonly reason?: string;
  readonly action: string;
  /** Worth an event only when it was once different: part of every beginning otherwise. */
  readonly onlyLater?: boolean;
}

/** The first row that names type and reason counts. */
const rows: readonly Row[] = [
  { type: 'Synced', reasons: ['CardSynced'], notice: 'Normal', action: 'FetchCard' },
  { type: 'Synced', reasons: ['Fetching'], action: 'FetchCard' },
  { type: 'Synced', reasons: fetchReasons, notice: 'Warning', action: 'FetchCard' },
  { type: 'Synced', reasons: ['WorkloadNotReady'], notice: 'Warning', action: 'FindAgent', onlyLater: true },
  { type: 'Synced', notice: 'Warning', action: 'FindAgent' },
  { type: 'Verified', reasons: ['SignatureVerified'], notice: 'Normal', action: 'VerifySignature' },
  { type: 'Verified', reasons: ['NotFetched'], action: 'VerifySignature' },
  { type: 'Verified', reasons: ['NotBound'], notice: 'Warning', reason: 'BindingFailed', action: 'EvaluateBinding' },
  { type: 'Verified', notice: 'Warning', action: 'VerifySignature' },
  { type: 'Bound', reasons: ['Bound'], notice: 'Normal', action: 'EvaluateBinding', onlyLater: true },
  { type: 'Bound', reasons: ['NoIdentity'], action: 'EvaluateBinding' },
  { type: 'Bound', notice: 'Warning', reason: 'BindingFailed', action: 'EvaluateBinding' },
];

export function notices(before: AgentCardStatus | undefined, after: AgentCardStatus): readonly Notice[] {
  const old = new Map((before?.conditions ?? []).map((condition) => [condition.type, condition]));
  const now = after.conditions ?? [];
  const isBindingTold = now.some(
    ({ type, status, reason }) => type === 'Bound' && status === 'False' && reason !== 'NoIdentity',
  );
  const told = now.flatMap((condition) => {
    // The condition Bound says the same, and more exactly.
    if (condition.reason === 'NotBound' && isBindingTold) return [];
    return noticeOf(condition, old.get(condition.type));
  });
  return [...changed(before, after), ...told];
}

function noticeOf(condition: Condition, old: Condition | undefined): readonly Notice[] {
  const row = rows.find(
    ({ type, reasons }) => type === condition.type && (reasons?.includes(condition.reason) ?? true),
  );
  if (row?.notice === undefined || !isNews(row, old, condition)) return [];
  const { notice: type, action, reason = condition.reason } = row;
  return [{ type, reason, action, note: condition.message }];
}

function isNews(row: Row, old: Condition | undefined, now: Condition): boolean {
  if (old === undefined) return row.onlyLater !== true;
  return old.reason !== now.reason;
}

function changed(before: AgentCardStatus | undefined, after: AgentCardStatus): readonly Notice[] {
  const { cardHash: old } = before ?? {};
  const { cardHash: now } = after;
  if (old === undefined || now === undefined || old === now) return [];
  const note = `The agent serves another card than before: SHA-256 ${now}.`;
  return [{ type: 'Normal', reason: 'CardChanged', action: 'FetchCard', note }];
}
