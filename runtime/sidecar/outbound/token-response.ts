/** What a token endpoint's answer means: a token, a refusal of this caller, something to be set right, or an outage. */

import { isJsonObject, type Json, type JsonObject, parseStrictJson } from '../../encoding/strict-json.ts';
import { writtenClaims } from '../idp/bearer.ts';
import type { Answer, NoAnswer } from '../idp/fetch.ts';
import type { TokenWish } from './token-request.ts';

export type TokenOutcome =
  /** `lifeSeconds`: undefined when nobody says how long it lives. */
  | { readonly kind: 'token'; readonly token: string; readonly lifeSeconds: number | undefined }
  /** The issuer does not take this caller's token (401), or not for this (403). `code` is the issuer's error code. */
  | { readonly kind: 'refused'; readonly status: 401 | 403; readonly code: string }
  /** Nothing is wrong with the caller. `description` names what to set right. */
  | { readonly kind: 'misconfigured'; readonly code: string; readonly description: string }
  | { readonly kind: 'unavailable'; readonly description: string; readonly retryAfterSeconds: number | undefined };

/** Judges what came back for a wish. Of an error's own text nothing goes into the outcome but its code. */
export function tokenOutcome(wish: TokenWish, answer: Answer | NoAnswer, nowSeconds: number): TokenOutcome {
  if (answer.kind === 'no-answer') return unavailable(answer.why);
  const { status, retryAfterSeconds } = answer;
  if (status === 429 || status >= 500) return unavailable(`answers with status ${status}`, retryAfterSeconds);
  const parsed = parseStrictJson(answer.body, limits);
  const body = 'value' in parsed && isJsonObject(parsed.value) ? parsed.value : undefined;
  if (status === 200) return body === undefined ? unavailable('answers with no JSON') : granted(wish, body, nowSeconds);
  const code = codeOf(body?.['error']);
  if (code === undefined) {
    return misconfigured(
      '',
      `the token URL answers with status ${status} and no OAuth error: check TOKEN_URL, or tokenUrl of the route`,
    );
  }
  return refused(wish, { status, code, description: body?.['error_description'] });
}

const limits = { bytes: 262_144, depth: 8 };

const unavailable = (why: string, retryAfterSeconds?: number): TokenOutcome => ({
  kind: 'unavailable',
  description: `the identity provider ${why}`,
  retryAfterSeconds,
});

const misconfigured = (code: string, description: string): TokenOutcome => ({
  kind: 'misconfigured',
  code,
  description,
});

/** A token goes into a header and is sent to others: nothing but a token's characters. */
const token68 = /^[A-Za-z0-9._~+/-]{1,16384}=*$/;

/** RFC 8693 section 2.2.1: of both types only these can be sent as a bearer. */
const issuedTypes: readonly (Json | undefined)[] = ['access_token', 'jwt'].map(
  (it) => `urn:ietf:params:oauth:token-type:${it}`,
);

function granted({ subject }: TokenWish, body: JsonObject, nowSeconds: number): TokenOutcome {
  const { access_token: token, token_type: type, issued_token_type: issued, expires_in: expires } = body;
  if (typeof token !== 'string' || !token68.test(token)) return unavailable('answers without a usable access_token');
  if (typeof type !== 'string' || type.toLowerCase() !== 'bearer')
    return unavailable('gives a token that is no bearer token');
  if (subject !== undefined && !issuedTypes.includes(issued))
    return unavailable('does not say that it gives an access token');
  return { kind: 'token', token, lifeSeconds: lifeOf(token, expires, nowSeconds) };
}

/** The shorter of what the answer says and what the token says itself. */
function lifeOf(token: string, expires: Json | undefined, nowSeconds: number): number | undefined {
  const own = writtenClaims(token)?.['exp'];
  const lives = [
    typeof expires === 'number' ? expires : undefined,
    typeof own === 'number' ? own - nowSeconds : undefined,
  ];
  const known = lives.filter((it) => it !== undefined);
  return known.length === 0 ? undefined : Math.max(0, Math.min(...known));
}

/** RFC 6749 section 5.2 allows more; a code that is longer or has other characters is none. */
function codeOf(error: Json | undefined): string | undefined {
  return typeof error === 'string' && /^[a-z0-9_.-]{1,64}$/i.test(error) ? error : undefined;
}

interface OAuthError {
  readonly status: number;
  readonly code: string;
  readonly description: Json | undefined;
}

type Meaning = 'caller' | 'forbidden' | keyof typeof remedies;

/**
 * By code, and by Keycloak's words where it uses one code for matters that different people mend; first match wins. All else is about this
 * caller and this target: refused, and no secret which code it was.
 */
const meanings: readonly (readonly [code: RegExp, description: RegExp, meaning: Meaning])[] = [
  [/^invalid_target$/, /^/, 'audience'],
  [/^invalid_scope$/, /^/, 'scopes'],
  [/^invalid_client$/, /^audience not found/i, 'audience'],
  [/^invalid_request$/, /audience not available/i, 'audience'],
  [/^invalid_request$/, /exchange is not enabled/i, 'exchange'],
  [/^(unsupported_grant_type|unauthorized_grant)$/, /^/, 'exchange'],
  [/^(invalid_client|unauthorized_client)$/, /^/, 'credentials'],
  [/^(invalid_grant|invalid_token|invalid_request)$/, /^/, 'caller'],
];

const remedies = {
  audience: ({ audience }: TokenWish) =>
    `the identity provider knows no audience ${JSON.stringify(audience)} that this agent's client may ask for: check audience and scopes of the route, or tokenExchange.audience, and the client's scopes`,
  scopes: ({ scopes }: TokenWish) =>
    `this agent's client may not ask for all of the scopes ${JSON.stringify(scopes.join(' '))}: check scopes of the route, or tokenExchange.scopes, and the client's scopes`,
  exchange: () =>
    "the identity provider does not let this agent's client exchange tokens: turn on token exchange for the client, and check TOKEN_URL",
  credentials: () =>
    "the identity provider does not take this agent's own credentials: check the Secret with client-id.txt and client-secret.txt, or the client's SPIFFE ID",
} as const;

function refused(wish: TokenWish, error: OAuthError): TokenOutcome {
  const { status, code, description } = error;
  const text = typeof description === 'string' ? description : '';
  const row = meanings.find(([ofCode, ofText]) => ofCode.test(code) && ofText.test(text));
  const meaning = row?.[2] ?? (status === 401 ? 'caller' : 'forbidden');
  if (meaning !== 'caller' && meaning !== 'forbidden') return misconfigured(code, remedies[meaning](wish));
  // Without a caller it is the agent itself that is refused, which its administrator must mend.
  if (wish.subject === undefined) return misconfigured(code, remedies.credentials());
  return { kind: 'refused', status: meaning === 'caller' ? 401 : 403, code };
}
