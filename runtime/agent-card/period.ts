/** How often a card is fetched, and how long a verdict outlives the last contact. */

import { type AgentCard, agentCardDefaults } from '../api/agent-card.ts';
import { parseDuration } from '../encoding/duration.ts';

const { syncPeriodMs, minSyncPeriodMs, maxSyncPeriodMs } = agentCardDefaults;

/** Milliseconds: `spec.syncPeriod`, from 5 s to 24 h; 30 s when it is absent or no duration. */
export function periodOf({ spec }: AgentCard): number {
  const { syncPeriod } = (spec as AgentCard['spec'] | undefined) ?? {};
  const wanted = syncPeriod === undefined ? undefined : parseDuration(syncPeriod);
  return Math.min(maxSyncPeriodMs, Math.max(minSyncPeriodMs, wanted ?? syncPeriodMs));
}

const periods = 10;
const hourMs = 3_600_000;

/** Milliseconds after which `lastSyncTime` is written although nothing else changed: ten periods, but not more than once an hour. */
export function refreshMs(periodMs: number): number {
  return Math.max(periods * periodMs, hourMs);
}
