/** Which of a workload's pods are asked in one attempt, and in which order: pure. */

import type { Endpoint, Endpoints } from './contact.ts';

/** Pods that one attempt asks, until one answers with a card. */
export const mostTurns = 3;

/** What earlier attempts say about whom to ask. */
export interface Experience {
  /** The one that answered last; undefined: none has, or another is to show itself first. */
  readonly answering: Endpoint | undefined;
  /** How many of the others were asked in vain since then. */
  readonly passedOver: number;
}

/**
 * The one that answered last, so that replicas which serve different documents do not take turns, else the first. Of the others two, and in the
 * next attempt the next two: with one of many that answers it is found in a few.
 */
export function turnsOf(endpoints: Endpoints, { answering, passedOver }: Experience): Endpoints {
  const [head] = endpoints;
  const first = (answering && found(endpoints, answering)) ?? head;
  const others = endpoints.filter((endpoint) => endpoint !== first);
  const from = others.length === 0 ? 0 : passedOver % others.length;
  return [first, ...[...others.slice(from), ...others.slice(0, from)].slice(0, mostTurns - 1)];
}

/**
 * Whether somebody else is to be asked at once: the one that is asked (`at`) is there no more, since its address may be anybody's by now, or
 * pods of a newer revision have come.
 */
export function isOver(at: Endpoint, before: Endpoints, now: Endpoints): boolean {
  const [{ revision }] = now;
  return found(now, at) === undefined || (revision !== before[0].revision && revision !== at.revision);
}

export function found(endpoints: Endpoints, wanted: Endpoint): Endpoint | undefined {
  return endpoints.find((endpoint) => isSamePlace(endpoint, wanted));
}

/** `via` is for people. */
export function isSamePlace(a: Endpoint, b: Endpoint): boolean {
  return a.pod === b.pod && a.address === b.address && a.port === b.port && a.host === b.host;
}
