/** What keeps a step from being taken now although nothing is wrong with it: no place in the rollout, or another actor that undoes it. */

import type { Observed } from './observed.ts';
import type { Obstacle } from './obstacles.ts';
import type { Step } from './step.ts';

export interface Hindrance {
  /** Whether the step's `apply` is written now. */
  readonly isApplied: boolean;
  /** Takes the step's own obstacle's place in `Ready`; undefined: none. */
  readonly obstacle: Obstacle | undefined;
  readonly afterMs: number | undefined;
  /** A short wait for a place: the status that stands is as good as one that would be replaced in a moment. */
  readonly isQuiet?: boolean;
}

/** Waiting shorter than this is not worth a status write. */
export const quietWaitMs = 5_000;

export function hindrance(observed: Observed, step: Step): Hindrance {
  const { standing, place } = observed;
  if (standing.kind === 'paused') {
    return { isApplied: false, obstacle: fieldConflict(observed, standing.manager), afterMs: standing.forMs };
  }
  if (step.apply !== undefined && step.pace === 'rollout' && place.kind !== 'held') return queued(observed);
  const afterMs = place.kind === 'held' ? place.leftMs : undefined;
  const isApplied = step.apply !== undefined;
  if (standing.kind !== 'probation') return { isApplied, obstacle: undefined, afterMs };
  const obstacle = fieldConflict(observed, standing.manager);
  return { isApplied, obstacle, afterMs: Math.min(standing.forMs, afterMs ?? standing.forMs) };
}

function queued({ place }: Observed): Hindrance {
  if (place.kind !== 'waiting') return { isApplied: false, obstacle: undefined, afterMs: undefined };
  if (place.waitedMs < quietWaitMs) {
    return { isApplied: false, obstacle: undefined, afterMs: quietWaitMs - place.waitedMs, isQuiet: true };
  }
  const message = place.isPaused
    ? 'A new configuration waits: rollout.paused is true in the platform configuration. Set it to false to go on.'
    : 'A new configuration waits for its turn: rollout.maxConcurrentWorkloads other workloads are being restarted.';
  return { isApplied: false, obstacle: { reason: 'RolloutPending', phase: 'Pending', message }, afterMs: place.lookMs };
}

function fieldConflict({ runtime }: Observed, manager: string): Obstacle {
  const { kind, name } = runtime.spec.targetRef;
  const who = manager === '' ? 'Another actor' : `Field manager "${manager}"`;
  return {
    reason: 'FieldConflict',
    phase: 'Error',
    message: `${who} keeps undoing what the operator sets on ${kind} ${name}: label rossoctl.io/type (metadata and pod template) and annotation rossoctl.io/config-hash. The operator tries again at growing intervals. Let the other tool ignore these fields.`,
  };
}
