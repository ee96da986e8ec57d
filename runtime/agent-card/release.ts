/** What deletion takes back: the verified label, wherever it was set on this card's behalf. */

import type { AgentCardStatus } from '../api/agent-card.ts';
import type { Plan } from '../engine/types.ts';
import type { Observed } from './observed.ts';
import { removals } from './verified-label.ts';

/** Another card with the same target looks after its labels. A missing or unsupported target leaves nothing to do. */
export function release({ former, marked, strays, hasHeir }: Observed): Plan<AgentCardStatus> {
  return { patch: removals(hasHeir ? former : [...former, ...strays, ...marked]) };
}
