/** Verifies the signatures of a card in the seven steps of the platform's X5C scheme (A2A section 8.4, RFC 7515, X509-SVID). */

import { sha256Hex } from '../encoding/digest.ts';
import type { Json, JsonObject } from '../encoding/strict-json.ts';
import type { SignatureReason } from '../api/conditions.ts';
import { hasSignatureForm, isSignatureOf, keyRefusal } from './algorithms.ts';
import { type Binding, bindingOf, type ExpectedIdentity } from './binding.ts';
import { type Path, validatePath } from './chain.ts';
import { readSignature, type Signature, signingInput } from './jws.ts';
import { type Payload, payloadOf, payloadsOf, type Profile } from './payloads.ts';
import { isRefusal, type Refusal, refusal } from './refusal.ts';
import { type SpiffeId, spiffeIdOf } from './spiffe-id.ts';
import type { TrustBundle } from './trust-bundle.ts';

export interface VerifyOptions extends ExpectedIdentity {
  readonly bundle: TrustBundle;
  /** Judges every certificate of the path; no leeway. */
  readonly now: Date;
  /** Which forms of the payload count; default all. */
  readonly profiles?: 'all' | 'jcs';
}

export type Verification =
  | {
      readonly isValid: true;
      readonly isBound: boolean;
      readonly binding: Binding;
      readonly spiffeId: string;
      /** `kid`; only reported. */
      readonly keyId?: string;
      readonly algorithm: string;
      readonly profile: Profile;
      /** The first end of validity in the path: until then the verdict holds. */
      readonly expires: Date;
      /** Exactly the tree the matching payload was made from, and the one entry of `signatures` that covers it, without its unprotected header. */
      readonly card: JsonObject;
      /** JSON pointers of what was served and is not covered; at most 64. */
      readonly unsigned: readonly string[];
    }
  | { readonly isValid: false; readonly reason: SignatureReason; readonly detail: string };

/** Most entries of `signatures`. */
export const mostSignatures = 8;

/** The steps, in the order in which they are taken. */
export const steps = ['header', 'chain', 'identity', 'key', 'payload', 'input', 'signature'] as const;
export type Step = (typeof steps)[number];

/** How far one entry of `signatures` came: what each step found, and where and why it ended. */
export interface Attempt {
  readonly header?: Signature;
  readonly path?: Path;
  readonly identity?: SpiffeId;
  readonly payload?: Payload;
  readonly binding?: Binding;
  readonly ended?: { readonly step: Step; readonly refusal: Refusal };
}

/**
 * The verdict on a card from `readCard`. One good entry suffices, in any position: a bound one before an unbound one before any that fails;
 * of several failures the one that came furthest gives the reason. Nothing is fetched. Never throws.
 */
export function verifyCard(card: JsonObject, options: VerifyOptions): Verification {
  const attempts = attemptsOf(card, options);
  if (isRefusal(attempts)) return { isValid: false, ...attempts };
  const best = bestOf(attempts);
  return succeeded(best) ?? failed(attempts, best);
}

/** Every entry tried in turn, up to the first that is good and bound; or why there is none to try. Never throws. */
export function attemptsOf(card: JsonObject, options: VerifyOptions): readonly Attempt[] | Refusal {
  const entries = entriesOf(card);
  if (isRefusal(entries)) return entries;
  const payloads = rememberedPayloads(card, options.profiles ?? 'all');
  const attempts: Attempt[] = [];
  for (const entry of entries) {
    const attempt = verifyEntry(entry, payloads, options);
    attempts.push(attempt);
    if (attempt.binding?.reason === 'Bound') break;
  }
  return attempts;
}

function entriesOf({ signatures }: JsonObject): readonly Json[] | Refusal {
  if (signatures === undefined || signatures === null) return refusal('no-signature', 'the card has no signatures');
  if (!Array.isArray(signatures)) return refusal('no-signature', 'signatures is no list');
  if (signatures.length === 0) return refusal('no-signature', 'the list of signatures is empty');
  if (signatures.length <= mostSignatures) return signatures as readonly Json[];
  return refusal(
    'limit-exceeded',
    `the card has ${signatures.length} signatures; at most ${mostSignatures} are looked at`,
  );
}

function verifyEntry(entry: Json, payloads: Payloads, options: VerifyOptions): Attempt {
  // 1. The chain of certificates and the algorithm, from the protected header alone.
  const header = readSignature(entry);
  if (isRefusal(header)) return { ended: { step: 'header', refusal: header } };
  // 2. The chain leads to an anchor of the bundle, and every certificate of it may be where it is.
  const path = validatePath(header.x5c, options.bundle, options.now);
  if (isRefusal(path)) return { header, ended: { step: 'chain', refusal: path } };
  // 3. Who signed: the URI that the chain vouches for.
  const identity = spiffeIdOf(path.leaf);
  if (isRefusal(identity)) return { header, path, ended: { step: 'identity', refusal: identity } };
  // 4. The leaf's public key can have made such a signature.
  const key = path.leaf.publicKey;
  const misfit = keyRefusal(header.algorithm, key);
  if (key === undefined || misfit !== undefined) {
    return { header, path, identity, ended: { step: 'key', refusal: misfit ?? noKey } };
  }
  const known = { header, path, identity };
  // 5. What may have been signed: made anew from the card, in each form that counts.
  const candidates = payloads();
  if (isRefusal(candidates)) return { ...known, ended: { step: 'payload', refusal: candidates } };
  for (const payload of candidates) {
    // 6. The header as served and that payload.
    const input = signingInput(header.protected, payload.encoded);
    // 7. The signature itself.
    if (!isSignatureOf(header.algorithm, key, { input, signature: header.signature })) continue;
    return { ...known, payload, binding: bindingOf(identity, options) };
  }
  const hasForm = hasSignatureForm(header.algorithm, key, header.signature);
  return { ...known, ended: { step: 'signature', refusal: hasForm ? mismatch : formless(header) } };
}

const noKey = refusal('alg-key-mismatch', 'the leaf certificate has no public key that can be read');
const mismatch = refusal(
  'payload-mismatch',
  'the signature does not match the card: it was changed after it was signed, or another key than that of the leaf certificate signed it',
);

function formless({ algorithm }: Signature): Refusal {
  const why = algorithm.keyType === 'ec' ? ': r and s side by side, not DER' : '';
  return refusal('signature-invalid', `the signature has not the form of ${algorithm.name}${why}`);
}

/** Asked for by every entry that gets so far; each form is made once. */
type Payloads = () => Iterable<Payload> | Refusal;

function rememberedPayloads(card: JsonObject, which: 'all' | 'jcs'): Payloads {
  const source = payloadsOf(card, which);
  const made: Payload[] = [];
  let refused: Refusal | undefined;

  function* all(): Generator<Payload, undefined> {
    for (let at = 0; ; at++) {
      const payload = made[at] ?? source.next().value;
      if (payload === undefined) return undefined;
      made[at] = payload;
      yield payload;
    }
  }

  return () => {
    if (made.length === 0 && refused === undefined) {
      // The first form holds every value, so if it can be written all can.
      const first = firstOf(source);
      if (isRefusal(first)) refused = first;
      else made.push(first);
    }
    return refused ?? all();
  };
}

function firstOf(source: Generator<Payload, undefined>): Payload | Refusal {
  try {
    return source.next().value ?? refusal('malformed-json', 'the card has no canonical form');
  } catch (error) {
    if (error instanceof TypeError) return refusal('malformed-json', error.message);
    throw error;
  }
}

function bestOf(attempts: readonly Attempt[]): Attempt {
  return attempts.reduce((best, attempt) => (rank(attempt) > rank(best) ? attempt : best), {});
}

function rank({ binding, ended }: Attempt): number {
  if (binding !== undefined) return binding.reason === 'Bound' ? 100 : 99;
  return ended === undefined ? -1 : steps.indexOf(ended.step);
}

function succeeded(attempt: Attempt): Verification | undefined {
  const { header, path, identity, payload, binding } = attempt;
  if (header === undefined || path === undefined || identity === undefined) return undefined;
  if (payload === undefined || binding === undefined) return undefined;
  return {
    isValid: true,
    isBound: binding.reason === 'Bound',
    binding,
    spiffeId: identity.text,
    ...(header.keyId === undefined ? {} : { keyId: header.keyId }),
    algorithm: header.algorithm.name,
    profile: payload.profile,
    expires: new Date(path.expires),
    card: { ...payload.tree, signatures: [{ protected: header.protected, signature: header.encoded }] },
    unsigned: payload.unsigned,
  };
}

function failed(attempts: readonly Attempt[], best: Attempt): Verification {
  const { reason, detail } = best.ended?.refusal ?? refusal('no-signature', 'no signature was tried');
  const isOne = attempts.length === 1;
  const told = isOne
    ? detail
    : `none of ${attempts.length} signatures is good; the ${ordinal(attempts.indexOf(best))}: ${detail}`;
  return { isValid: false, ...refusal(reason, told) };
}

function ordinal(at: number): string {
  return ['first', 'second', 'third', 'fourth', 'fifth', 'sixth', 'seventh', 'eighth'][at] ?? `${at + 1}th`;
}

/** SHA-256, hex, of the canonical JSON (RFC 8785) of a card from `readCard` without its root's `signatures`. */
export function cardHash(card: JsonObject): string {
  return sha256Hex(payloadOf(card, 'jcs').text);
}
