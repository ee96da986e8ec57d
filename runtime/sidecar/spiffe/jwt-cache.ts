/** JWT-SVIDs by audience: fetched once for all who ask at the same time, and kept as long as they are good for something. */

import type { Clock } from '../../engine/clock.ts';
import { createLru } from '../../signature/lru.ts';
import type { JwtSvid } from './jwt-svid.ts';

/** A token, or why there is none: a sentence without a full stop. */
export type JwtAnswer = (JwtSvid & { readonly renewAt: number }) | { readonly unavailable: string };

export interface JwtCacheOptions {
  /** Never rejects; ends by itself. A string says why there is none. */
  readonly ask: (audiences: readonly string[]) => Promise<JwtSvid | string>;
  /** Whose tokens they are now: those of another identity are not given out. */
  readonly owner: () => string | undefined;
  readonly clock: Clock;
}

/** More sets of audiences than a pod's configuration can name; the one used longest ago goes. */
const mostKept = 64;
const most = { audiences: 16, characters: 2048 };
/** How long a failure is the answer, so that an agent in trouble is not asked once a request. */
const failureMs = 1_000;

interface Entry {
  held: Extract<JwtAnswer, JwtSvid> | undefined;
  /** Counts until `until`. */
  failure: { readonly unavailable: string; readonly until: number } | undefined;
  flight: Promise<void> | undefined;
}

/** The cache, as a function from audiences to an answer. It never rejects. */
export function createJwtCache(options: JwtCacheOptions): (audiences: readonly string[]) => Promise<JwtAnswer> {
  const { clock, owner } = options;
  const entries = createLru<Entry>(mostKept);
  return async (audiences) => {
    const fault = audiencesFault(audiences);
    if (fault !== undefined) return { unavailable: fault };
    const key = JSON.stringify([owner(), ...[...audiences].sort()]);
    const entry = entries.get(key) ?? { held: undefined, failure: undefined, flight: undefined };
    entries.set(key, entry, 1);
    const held = heldAt(entry, clock);
    const isDue = held === undefined || clock.now().getTime() >= held.renewAt;
    if (isDue && (entry.failure === undefined || clock.monotonicMs() >= entry.failure.until)) {
      entry.flight ??= refresh(options, audiences, entry);
    }
    if (held === undefined) await entry.flight;
    return heldAt(entry, clock) ?? { unavailable: entry.failure?.unavailable ?? 'the JWT-SVID has ended' };
  };
}

function audiencesFault(audiences: readonly string[]): string | undefined {
  const isOne = (audience: string) => audience !== '' && audience.length <= most.characters;
  if (audiences.length > 0 && audiences.length <= most.audiences && audiences.every(isOne)) return undefined;
  return `a JWT-SVID is for 1 to ${most.audiences} audiences of at most ${most.characters} characters`;
}

async function refresh({ ask, clock }: JwtCacheOptions, audiences: readonly string[], entry: Entry): Promise<void> {
  const got = await ask(audiences);
  const now = clock.now().getTime();
  if (typeof got === 'string') entry.failure = { unavailable: got, until: clock.monotonicMs() + failureMs };
  else {
    entry.failure = undefined;
    // Half of what is left of it and not of its whole life: the agent has a cache too.
    entry.held = { ...got, renewAt: now + (got.expires - now) / 2 };
  }
  entry.flight = undefined;
}

function heldAt({ held }: Entry, clock: Clock): Entry['held'] {
  return held !== undefined && clock.now().getTime() < held.expires ? held : undefined;
}
