/** Asks a rule, and has a decision in any case: also when the rule fails, does not come to one in time, or may not wait. */

import type { Clock } from '../../engine/clock.ts';
import { createDeadline } from '../../engine/deadline.ts';
import type { Log } from '../../engine/types.ts';
import type { Decide, Decision, Direction, Refusal, RequestHead } from '../decision.ts';

export interface DecideOptions {
  readonly rules: Readonly<Record<Direction, Decide>>;
  /** In milliseconds; default 8,000. */
  readonly deadlineMs?: number;
  readonly clock: Clock;
  readonly log: Log;
}

const defaultDeadlineMs = 8_000;

/** The rule's decision, or a refusal. `gone` ends the rule's signal as the deadline does, and then the decision is for nobody. */
export async function decide(options: DecideOptions, head: RequestHead, gone: AbortSignal): Promise<Decision> {
  const { rules, clock, log, deadlineMs = defaultDeadlineMs } = options;
  const deadline = createDeadline(clock, gone, deadlineMs);
  const over = new Promise<Refusal>((resolve) => {
    deadline.signal.addEventListener('abort', () => resolve(late), { once: true });
  });
  try {
    return await Promise.race([rules[head.direction](head, deadline.signal), over]);
  } catch (error) {
    if (deadline.signal.aborted) return late;
    log.error('a rule failed, and the request was refused', { direction: head.direction, error });
    return failed;
  } finally {
    deadline.end();
  }
}

/**
 * For a request that there is no room for to wait: what the rule says at once (an open path, a missing token, one that was verified before),
 * or a refusal. So a flood of what must wait does not fail the kubelet's probes.
 */
export function decideAtOnce({ rules, log }: Pick<DecideOptions, 'rules' | 'log'>, head: RequestHead): Decision {
  const { direction } = head;
  try {
    const decision = rules[direction](head, ended);
    if (!(decision instanceof Promise)) return decision;
    // What the rule gave up because of the signal is for nobody.
    decision.catch(() => undefined);
    return overloaded;
  } catch (error) {
    log.error('a rule failed, and the request was refused', { direction, error });
    return failed;
  }
}

const ended = AbortSignal.abort(new Error('there is no room to wait'));

const late: Refusal = {
  kind: 'refuse',
  reason: 'deadline',
  status: 503,
  error: 'temporarily_unavailable',
  description:
    "The request could not be decided in time; try again, and see the log of the pod's container envoy-proxy.",
  headers: { 'retry-after': '1' },
};

/** The caller may come again in a moment. */
const overloaded: Refusal = {
  kind: 'refuse',
  reason: 'overload',
  status: 503,
  error: 'temporarily_unavailable',
  description: 'Too many requests are being decided; try again.',
  headers: { 'retry-after': '1' },
};

const failed: Refusal = {
  kind: 'refuse',
  reason: 'internal_error',
  status: 500,
  error: 'server_error',
  description: "The request could not be decided; the log of the pod's container envoy-proxy says why.",
};
