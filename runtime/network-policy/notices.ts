/** Which changes of the network are worth a Kubernetes event: one a change, none while nothing changes (OB-02). */

import type { Finding } from '../api/conditions.ts';
import type { Notice } from '../engine/types.ts';
import type { Reason } from './outcome.ts';

interface Row {
  readonly notice: Notice['type'];
  readonly reason: string;
  /** Told only after this: every agent begins closed, which is no news. */
  readonly onlyAfter?: Reason;
}

const obstructed = (reason: string): Row => ({ notice: 'Warning', reason });

/** Reasons that are not here are told by other conditions of the card already, or pass by themselves. */
const rows: Readonly<Partial<Record<string, Row>>> = {
  Permissive: { notice: 'Normal', reason: 'NetworkOpened' },
  Restrictive: { notice: 'Warning', reason: 'NetworkClosed', onlyAfter: 'Permissive' },
  NameTaken: obstructed('NetworkPolicyNameTaken'),
  Unenforced: obstructed('NetworkPolicyUnenforced'),
  SelectsOperator: obstructed('NetworkPolicySelectsOperator'),
  NoPodSelector: obstructed('NetworkPolicyNoPodSelector'),
  HostNetwork: obstructed('NetworkPolicyHostNetwork'),
  ConfigInvalid: obstructed('NetworkPolicyConfigInvalid'),
};

export function notices(before: { readonly reason: string } | undefined, now: Finding): readonly Notice[] {
  const row = rows[now.reason];
  if (row === undefined || before?.reason === now.reason) return [];
  if (row.onlyAfter !== undefined && row.onlyAfter !== before?.reason) return [];
  return [{ type: row.notice, reason: row.reason, action: 'EnforceNetworkPolicy', note: now.message }];
}
