/** The events that the operator writes: found by asking its own rules about every change of a condition. */

import {
  type Condition,
  agentCardReasons,
  agentRuntimeReasons,
  conditionReason,
  signatureReasons,
} from '../../runtime/api/conditions.ts';
import { notices as cardNotices } from '../../runtime/agent-card/notices.ts';
import { notices as runtimeNotices } from '../../runtime/agent-runtime/notices.ts';
import type { Notice } from '../../runtime/engine/types.ts';
import { notices as networkNotices } from '../../runtime/network-policy/notices.ts';
import { code, codes } from './markdown.ts';

/** Events that one thing brings about. */
export interface EventRow {
  readonly reasons: readonly string[];
  readonly type: Notice['type'];
  readonly regarding: 'AgentRuntime' | 'AgentCard' | 'Pod' | 'Deployment or StatefulSet';
  readonly when: string;
}

interface Change {
  readonly type: string;
  readonly reason: string;
  readonly notice: Notice;
}

/** Every event, those of a condition first. */
export function events(): readonly EventRow[] {
  return [
    ...rowsOf(
      'AgentRuntime',
      changes(agentRuntimeReasons, (before, after) => runtimeNotices([before], [after])),
    ),
    ...rowsOf('AgentCard', changes(cardReasons, cardChange)),
    ...others,
  ];
}

const cardReasons = {
  ...agentCardReasons,
  Verified: [...agentCardReasons.Verified, ...signatureReasons.map(conditionReason)],
};

function cardChange(before: Condition, after: Condition): readonly Notice[] {
  if (after.type !== 'NetworkPolicyReady') return cardNotices({ conditions: [before] }, { conditions: [after] });
  // Some are told only of what was open before.
  const reason = after.reason === 'Permissive' ? 'Restrictive' : 'Permissive';
  return networkNotices({ reason }, after);
}

/** Not of a condition; the test of this page holds the list against the sources. */
const others: readonly EventRow[] = [
  {
    reasons: ['CardChanged'],
    type: 'Normal',
    regarding: 'AgentCard',
    when: 'the agent serves another card than before',
  },
  {
    reasons: ['CardWithdrawn'],
    type: 'Normal',
    regarding: 'Deployment or StatefulSet',
    when: 'its generated AgentCard was deleted; the message says why',
  },
  {
    reasons: ['CardNotWithdrawn'],
    type: 'Warning',
    regarding: 'Deployment or StatefulSet',
    when: 'its generated AgentCard should go and stays, because somebody else has written its spec; the message says who',
  },
  {
    reasons: ['CardWithdrawn'],
    type: 'Normal',
    regarding: 'AgentCard',
    when: 'it was generated, its workload is gone and nobody owned it, so it was deleted',
  },
  {
    reasons: ['CardNotWithdrawn'],
    type: 'Warning',
    regarding: 'AgentCard',
    when: 'the same, but it stays, because somebody else has written its spec; the message says who, and how to delete it',
  },
  {
    reasons: ['CardNameTaken'],
    type: 'Warning',
    regarding: 'Deployment or StatefulSet',
    when: 'it gets no AgentCard, because one of that name is about another workload',
  },
  {
    reasons: ['NetworkPolicySelectsOthers'],
    type: 'Warning',
    regarding: 'AgentCard',
    when: 'it is deleted, and the policy of the pods that outlive its workload selects pods of another workload as well; the message says whose',
  },
  {
    reasons: ['UnvouchedLabelRemoved'],
    type: 'Warning',
    regarding: 'Pod',
    when: 'it bore the verified label, which the operator had not set, and no card answers for it',
  },
];

function changes(
  reasons: Readonly<Record<string, readonly string[]>>,
  noticesOf: (before: Condition, after: Condition) => readonly Notice[],
): readonly Change[] {
  return Object.entries(reasons).flatMap(([type, list]) =>
    list.flatMap((reason) => {
      const after: Condition = { type, status: 'Unknown', reason, message: '', lastTransitionTime: '' };
      const [notice] = noticesOf({ ...after, reason: 'Another' }, after);
      return notice === undefined ? [] : [{ type, reason, notice }];
    }),
  );
}

/** Events that are called like the reason that brings them about share a row. */
function rowsOf(regarding: EventRow['regarding'], all: readonly Change[]): readonly EventRow[] {
  const isCalledLike = ({ reason, notice }: Change) => notice.reason === reason;
  const rows = Object.groupBy(all, (change) =>
    [change.type, change.notice.type, isCalledLike(change) ? '' : change.notice.reason].join(' '),
  );
  return Object.values(rows).flatMap((alike = []): readonly EventRow[] => {
    const [first] = alike;
    if (first === undefined) return [];
    const reasons = [...new Set(alike.map(({ notice }) => notice.reason))];
    const becomes = isCalledLike(first) ? 'that reason' : codes(alike.map(({ reason }) => reason));
    return [{ reasons, type: first.notice.type, regarding, when: `${code(first.type)} becomes ${becomes}` }];
  });
}
