/** When an agent is asked next: its period, a tenth more or less so that no crowd forms, longer for one that hangs. */

import { sha256Hex } from '../encoding/digest.ts';

/** Whoever hangs is asked at most four times more rarely, and never more often than this. */
const mostTimes = 4;
const leastPauseMs = 5_000;

/** Milliseconds from one request to the next. `hung`: how many attempts in a row ended by the deadline or the size limit. */
export function pauseMs(uid: string, periodMs: number, hung: number): number {
  const own = periodMs * (0.9 + 0.2 * share(uid, 'pace'));
  return hung === 0 ? own : Math.max(leastPauseMs, Math.min(own * 2 ** Math.min(hung, 8), periodMs * mostTimes));
}

/** Milliseconds to the first request, after a start that found many cards: anywhere in the period. */
export function spreadMs(uid: string, periodMs: number): number {
  return periodMs * share(uid, 'start');
}

/** From 0 up to 1, the same for the same card in every process. */
function share(uid: string, use: string): number {
  return Number.parseInt(sha256Hex(`${use}/${uid}`).slice(0, 8), 16) / 2 ** 32;
}
