/** What is wrong with the props of an AgentCard. */

import { AgentCardSpec } from '../runtime/api/agent-card.ts';
import { syncPeriodFault } from '../runtime/api/sync-period.ts';
import type { Violation } from '../runtime/config/violation.ts';
import { targetedSchema, targetedViolations } from './targeted-props.ts';

const Schema = targetedSchema(AgentCardSpec);

/** Every violation of the props. `props` may be anything: not every caller type-checks. */
export function agentCardViolations(props: unknown): readonly Violation[] {
  const found = targetedViolations(Schema, props);
  if (found.length > 0) return found;
  const message = syncPeriodFault((props as { readonly syncPeriod?: string }).syncPeriod);
  return message === undefined ? [] : [{ path: 'syncPeriod', message }];
}
