/** What must be true of a token's claims, whoever signed it: one row a rule, first match wins (RFC 7519, RFC 9068). */

import type { Json, JsonObject } from '../../encoding/strict-json.ts';

/** What a token is held against. */
export interface Expectations {
  /** Compared character by character (RFC 7519 section 4.1.1). */
  readonly issuer: string;
  /** The token must name one of them. */
  readonly audiences: readonly string[];
  /** How far the clock of the issuer may be from ours, either way. */
  readonly skewSeconds: number;
}

/** Why a token is not taken, as a metric's label. */
export type ClaimFault = 'claims' | 'issuer' | 'expired' | 'not-yet-valid' | 'token-use' | 'bound' | 'audience';

interface Held extends Expectations {
  readonly claims: JsonObject;
  readonly nowSeconds: number;
}

type Rule = readonly [fault: ClaimFault, isBroken: (held: Held) => boolean];

/** What needs no signature to be refused: such a token is not worth a look for its key. */
const early: readonly Rule[] = [
  ['claims', ({ claims: { iss } }) => typeof iss !== 'string'],
  ['issuer', ({ claims: { iss }, issuer }) => iss !== issuer],
  // A token without an end would be good forever (RFC 9068 section 2.2 demands it).
  ['claims', ({ claims: { exp } }) => typeof exp !== 'number'],
  ['expired', ({ claims: { exp }, nowSeconds, skewSeconds }) => Number(exp) <= nowSeconds - skewSeconds],
];

/** The rest, told only to those who hold what our issuer signed. */
const late: readonly Rule[] = [
  ['claims', ({ claims: { nbf, iat } }) => [nbf, iat].some((time) => time !== undefined && typeof time !== 'number')],
  [
    'not-yet-valid',
    ({ claims: { nbf, iat }, nowSeconds, skewSeconds }) =>
      [nbf, iat].some((time) => typeof time === 'number' && time > nowSeconds + skewSeconds),
  ],
  ['token-use', ({ claims }) => isForAnotherUse(claims)],
  // RFC 7800: good only together with a proof that nobody checks here, so to us it is anybody's.
  ['bound', ({ claims: { cnf } }) => cnf !== undefined],
  ['audience', ({ claims: { aud }, audiences }) => !audiencesOf(aud).some((each) => audiences.includes(each))],
];

/** The first rule that the written claims break without regard to who signed them. */
export const earlyFault = (held: Held): ClaimFault | undefined => firstOf(early, held);

/** The first rule that verified claims break. */
export const lateFault = (held: Held): ClaimFault | undefined => firstOf(late, held);

function firstOf(rules: readonly Rule[], held: Held): ClaimFault | undefined {
  return rules.find(([, isBroken]) => isBroken(held))?.[0];
}

/** `aud` as a list (RFC 7519 section 4.1.3); empty for what is neither text nor a list of texts. */
export function audiencesOf(aud: Json | undefined): readonly string[] {
  if (typeof aud === 'string') return [aud];
  if (!Array.isArray(aud)) return [];
  const texts = aud.filter((each) => typeof each === 'string');
  return texts.length === aud.length ? texts : [];
}

/**
 * ID tokens tell a client who has logged in; taken as access tokens they would let every client of a user speak for that user. Keycloak says
 * in the claim `typ` what a token is for; the hashes are in ID tokens alone (OpenID Connect Core 3.1.3.6 and 3.3.2.11).
 */
function isForAnotherUse(claims: JsonObject): boolean {
  const { typ } = claims;
  const isOther = typeof typ === 'string' && /^(id|refresh|offline|logout)$/i.test(typ);
  return isOther || ['at_hash', 'c_hash', 's_hash', 'events'].some((name) => Object.hasOwn(claims, name));
}
