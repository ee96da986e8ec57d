/** Envoy's aggregated discovery (state of the world) as a state machine of one stream: what to answer, and what Envoy said of what it was sent. */

import { typeUrl, types } from './names.ts';
import { type Resource, type Snapshot, versionOf } from './snapshot.ts';

/** What a request of the stream says that matters here. */
export interface DiscoveryRequest {
  readonly typeUrl: string;
  readonly versionInfo: string;
  readonly responseNonce: string;
  /** Empty for listeners and clusters: all of them. */
  readonly resourceNames: readonly string[];
  /** Present when the response of that nonce was refused. */
  readonly errorDetail?: { readonly message: string } | undefined;
}

export interface DiscoveryResponse {
  readonly typeUrl: string;
  readonly versionInfo: string;
  readonly nonce: string;
  readonly resources: readonly Resource[];
}

/** Where one type stands on this stream. */
export interface TypeState {
  /** What is asked for; undefined: everything. */
  readonly names: readonly string[] | undefined;
  /** Of the last response; empty before the first. */
  readonly nonce: string;
  readonly sent: string;
  /** The last version that Envoy took. That it works is another matter: a listener may still wait for a secret. */
  readonly accepted: string;
  /** Why Envoy refused what was sent last, in its own words; undefined while it did not. */
  readonly refusal: string | undefined;
}

export interface StreamState {
  readonly types: ReadonlyMap<string, TypeState>;
  /** Responses so far: the nonces. */
  readonly count: number;
}

export interface Step {
  readonly state: StreamState;
  readonly responses: readonly DiscoveryResponse[];
  /** What Envoy said of the last response; undefined when it only asked. */
  readonly verdict?: 'accepted' | 'refused';
}

export const newStream: StreamState = Object.freeze({ types: new Map(), count: 0 });

/**
 * One request. The first of a type, and one that names other resources than before, are answered with what there is; so is one that takes or
 * refuses a response while something newer waits. A nonce that is not the last one's belongs to a response that was overtaken: what it says
 * is out of date, and its names are those Envoy will say again.
 */
export function receive(before: StreamState, request: DiscoveryRequest, now: Snapshot): Step {
  const known = before.types.get(request.typeUrl);
  const names = wanted(request);
  if (known === undefined || request.responseNonce === '') {
    return answer(before, request.typeUrl, { ...blank, accepted: request.versionInfo, names }, now);
  }
  if (request.responseNonce !== known.nonce) return { state: before, responses: [] };
  const verdict = request.errorDetail === undefined ? 'accepted' : 'refused';
  return { ...answer(before, request.typeUrl, { ...heard(known, request), names }, now), verdict };
}

/** Resources have changed: a response for each type whose wanted resources are others than those sent last. */
export function update(before: StreamState, now: Snapshot): Step {
  const responses: DiscoveryResponse[] = [];
  let state = before;
  for (const url of now.keys()) {
    const known = state.types.get(url);
    if (known === undefined) continue;
    const step = answer(state, url, known, now);
    responses.push(...step.responses);
    state = step.state;
  }
  return { state, responses };
}

/** What Envoy refused last and still does: the type and its sentence. */
export function refusalsOf({ types: known }: StreamState): readonly string[] {
  return [...known].flatMap(([url, { refusal }]) =>
    refusal === undefined ? [] : [`${shortName(url)} refused by Envoy: ${refusal}`],
  );
}

/** Envoy has listeners and clusters, and took the last version of all that it asked for. */
export function isSettled({ types: known }: StreamState): boolean {
  const hasAll = [...wildcards].every((url) => known.has(url));
  return (
    hasAll && [...known.values()].every(({ sent, accepted, refusal }) => sent === accepted && refusal === undefined)
  );
}

/** The last word of a type's URL, as a label: `Listener`. */
export function shortName(url: string): string {
  return url.slice(url.lastIndexOf('.') + 1);
}

const blank: TypeState = { names: undefined, nonce: '', sent: '', accepted: '', refusal: undefined };

function heard(known: TypeState, { versionInfo, errorDetail }: DiscoveryRequest): TypeState {
  if (errorDetail !== undefined) return { ...known, refusal: errorDetail.message };
  return { ...known, accepted: versionInfo, refusal: undefined };
}

const wildcards = new Set([typeUrl(types.listener), typeUrl(types.cluster)]);

function wanted({ typeUrl: url, resourceNames }: DiscoveryRequest): readonly string[] | undefined {
  return wildcards.has(url) ? undefined : resourceNames;
}

/**
 * Sends what is wanted unless exactly that was sent already: neither an acceptance nor a refused version is answered by the same again.
 * Nothing is sent while nothing wanted is there, or a listener would stop waiting for its secret.
 */
function answer(before: StreamState, url: string, type: TypeState, now: Snapshot): Step {
  const all = now.get(url) ?? [];
  const resources = type.names === undefined ? all : all.filter(({ name }) => type.names?.includes(name));
  const version = versionOf(resources);
  const isNews = version !== type.sent && (resources.length > 0 || type.names === undefined);
  if (!isNews) return { state: { ...before, types: changed(before.types, url, type) }, responses: [] };
  const count = before.count + 1;
  const nonce = String(count);
  return {
    state: { count, types: changed(before.types, url, { ...type, nonce, sent: version, refusal: undefined }) },
    responses: [{ typeUrl: url, versionInfo: version, nonce, resources }],
  };
}

function changed(known: ReadonlyMap<string, TypeState>, url: string, type: TypeState): ReadonlyMap<string, TypeState> {
  return new Map([...known, [url, type]]);
}
