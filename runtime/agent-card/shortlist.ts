/** Of a workload's pods those that may be asked: a few, with one of each revision among them. */

import type { Endpoint } from './contact.ts';
import { mostTurns } from './turns.ts';

/** Of a workload with more pods the others are not asked before one of these is gone. */
const mostEndpoints = 8;

/**
 * `reached`: those of the newest revision first. An older revision has its turn within the first attempt, after two of the newest: in a rollout
 * whose many new pods serve no card yet, the old ones still speak for the workload.
 */
export function shortlist(reached: readonly Endpoint[]): readonly Endpoint[] {
  const [newest = [], ...older] = Map.groupBy(reached, ({ revision }) => revision).values();
  const early = [...newest.slice(0, mostTurns - 1), ...older.flatMap(([first]) => first ?? [])];
  return [...new Set([...early, ...reached])].slice(0, mostEndpoints);
}
