/** What is wrong with the props of an AgentCard. */

import { AgentCardSpec, agentCardDefaults } from '../runtime/api/agent-card.ts';
import type { Violation } from '../runtime/config/problem.ts';
import { parseDuration } from '../runtime/encoding/duration.ts';
import { targetedSchema, targetedViolations } from './targeted-props.ts';

const Schema = targetedSchema(AgentCardSpec);

/** Every violation of the props. `props` may be anything: not every caller type-checks. */
export function agentCardViolations(props: unknown): readonly Violation[] {
  const found = targetedViolations(Schema, props);
  return found.length > 0 ? found : shortPeriod(props);
}

/** The webhook refuses the same. */
function shortPeriod(props: unknown): readonly Violation[] {
  const { syncPeriod } = props as { readonly syncPeriod?: string };
  const ms = syncPeriod === undefined ? undefined : parseDuration(syncPeriod);
  const { minSyncPeriodMs } = agentCardDefaults;
  if (ms === undefined || ms >= minSyncPeriodMs) return [];
  return [{ path: 'syncPeriod', message: `${syncPeriod} is too short; the shortest is ${minSyncPeriodMs / 1000}s` }];
}
