/** What is wrong with an AgentCard's `syncPeriod` beyond what a schema can say: the webhook and the constructs refuse the same. */

import { parseDuration } from '../encoding/duration.ts';
import { agentCardDefaults } from './agent-card.ts';

const { minSyncPeriodMs, maxSyncPeriodMs } = agentCardDefaults;

/** A clause with the value and the bound it crosses; undefined: nothing, or it is no duration at all. */
export function syncPeriodFault(period: string | undefined): string | undefined {
  const ms = period === undefined ? undefined : parseDuration(period);
  if (ms === undefined) return undefined;
  if (ms < minSyncPeriodMs) return `${period} is too short; the shortest is ${minSyncPeriodMs / 1000}s`;
  if (ms > maxSyncPeriodMs) return `${period} is too long; the longest is ${maxSyncPeriodMs / 3_600_000}h`;
  return undefined;
}
