/** What the pod is: its SPIFFE identity as a state, and the sentences in which health tells it. */

import type { JwtAnswer } from './jwt-cache.ts';
import type { X509Svid } from './svid.ts';

/** `reason`, `fault`: a sentence without a full stop. */
export type IdentityState =
  | { readonly kind: 'none'; readonly since: Date; readonly reason: string }
  /** `fault`: why it is not being kept up at the moment; undefined: it is. */
  | { readonly kind: 'held'; readonly since: Date; readonly svid: X509Svid; readonly fault: string | undefined }
  /** `since`: its end. It must not be used any more. */
  | { readonly kind: 'expired'; readonly since: Date; readonly svid: X509Svid; readonly reason: string };

/** The pod's identity, which others follow. */
export interface Identity {
  /** As of now: an SVID past its end is never `held`, whether or not anybody was told. */
  readonly state: IdentityState;
  /** Calls back after each change of the state, a new SVID above all; returns its own stop. */
  subscribe(listener: (state: IdentityState) => void): () => void;
  /**
   * A JWT-SVID for all these audiences at once, from the cache until half of its life; after that the same one until its end, while a new one is
   * fetched. Never rejects; waits at most five seconds, and only for an audience of which nothing is held.
   */
  jwt(...audiences: readonly string[]): Promise<JwtAnswer>;
}

/** What is known at some time. */
export interface Known {
  /** When the asking began. */
  readonly begun: Date;
  readonly svid: X509Svid | undefined;
  /** When `svid` came. */
  readonly came: Date;
  /** Why nothing newer comes; undefined: the agent has given what it has. */
  readonly fault: string | undefined;
}

/** The state at `now`. Both ends of a certificate belong to its validity. */
export function stateAt({ begun, svid, came, fault }: Known, now: Date): IdentityState {
  if (svid === undefined)
    return { kind: 'none', since: begun, reason: fault ?? 'the SPIRE agent has not answered yet' };
  if (now.getTime() <= svid.notAfter) return { kind: 'held', since: came, svid, fault };
  const reason = fault ?? 'the SPIRE agent has given no newer one';
  return { kind: 'expired', since: new Date(svid.notAfter), svid, reason };
}

/** Why a pod that needs its identity is not ready, or undefined. */
export function readyLine(state: IdentityState): string | undefined {
  if (state.kind === 'held') return undefined;
  if (state.kind === 'none') return `no SPIFFE identity yet: ${state.reason}`;
  return `the SPIFFE identity ${state.svid.spiffeId} ended at ${timeText(state.since)}: ${state.reason}`;
}

/** What is wrong although the identity may still be good, or undefined. */
export function degradedLine(state: IdentityState): string | undefined {
  if (state.kind !== 'held') return readyLine(state);
  const { svid, fault } = state;
  if (fault !== undefined) {
    return `the SPIFFE identity ${svid.spiffeId} is not kept up and ends at ${timeText(new Date(svid.notAfter))}: ${fault}`;
  }
  const [warning, ...more] = svid.warnings;
  return warning === undefined ? undefined : `${warning}${more.length > 0 ? ` (and ${more.length} more)` : ''}`;
}

/** To the second, as certificates count. */
export function timeText(time: Date): string {
  return time.toISOString().replace(/\.\d+Z$/, 'Z');
}
