/** The vectors under test/vectors, and the verdict of our code on one. */

import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Json, JsonObject } from '../../../runtime/encoding/strict-json.ts';
import { readCard } from '../../../runtime/signature/document.ts';
import { parseTrustBundle, type TrustBundle } from '../../../runtime/signature/trust-bundle.ts';
import { type Verification, verifyCard, type VerifyOptions } from '../../../runtime/signature/verify.ts';

const root = path.resolve(import.meta.dirname, '../../vectors');

export const bytesOf = (file: string): Buffer => readFileSync(path.join(root, file));
export const textOf = (file: string): string => readFileSync(path.join(root, file), 'utf8');
export const jsonOf = (file: string): unknown => JSON.parse(textOf(file));

/** One row of the manifest. */
export interface Vector {
  readonly id: string;
  readonly file: string;
  readonly bundle: string;
  readonly trustDomain: string;
  readonly now: string;
  readonly expected: 'verified' | 'rejected';
  readonly expectedStrict?: 'verified' | 'rejected';
  readonly reason: string;
  readonly acceptReasons?: readonly string[];
  readonly spiffeId?: string | null;
  readonly bound?: boolean;
  readonly signatureValid?: boolean;
  readonly profile?: string;
  readonly alg?: string;
  readonly storedMustNotContain?: readonly string[];
  readonly mustNotFetch?: boolean;
}

export const vectors: readonly Vector[] = (jsonOf('manifest.json') as { readonly vectors: readonly Vector[] }).vectors;

export function vectorNamed(id: string): Vector {
  const found = vectors.find((vector) => vector.id === id);
  if (found === undefined) throw new Error(`no vector ${id}`);
  return found;
}

const bundles = new Map<string, TrustBundle>();

export function bundleIn(file: string): TrustBundle {
  const known = bundles.get(file) ?? parseTrustBundle(textOf(file));
  bundles.set(file, known);
  return known;
}

export const now = new Date('2026-12-15T12:00:00Z');

/** What the vectors' cards are verified with, unless a test says otherwise. */
export function optionsWith(more: Partial<VerifyOptions> = {}): VerifyOptions {
  return { bundle: bundleIn('bundles/root-ec.crt'), trustDomain: 'example.org', now, ...more };
}

/** Reading and verifying, as the operator does it. */
export function verdictOn(body: Uint8Array, options: VerifyOptions): Verification {
  const read = readCard(body);
  if ('refused' in read) return { isValid: false, reason: read.reason, detail: read.detail };
  return verifyCard(read.card, options);
}

export function verdictOf(vector: Vector, profiles: 'all' | 'jcs' = 'all'): Verification {
  const { file, bundle, trustDomain, now } = vector;
  return verdictOn(bytesOf(file), { bundle: bundleIn(bundle), trustDomain, now: new Date(now), profiles });
}

/** The card of a vector as an object a test can change. */
export function cardOf(id: string): Record<string, Json> {
  return structuredClone(cardIn(bytesOf(vectorNamed(id).file))) as Record<string, Json>;
}

export function cardIn(body: Uint8Array): JsonObject {
  const read = readCard(body);
  if ('refused' in read) throw new Error(read.detail);
  return read.card;
}

/** What a JSON pointer finds. */
export function at(value: Json | undefined, pointer: string): Json | undefined {
  return pointer
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce<Json | undefined>(
      (found, step) =>
        typeof found === 'object' && found !== null ? (found as Readonly<Record<string, Json>>)[step] : undefined,
      value,
    );
}

/** The reason of a verdict; `ok` when it is good and bound. */
export function reasonOf(result: Verification): string {
  if (!result.isValid) return result.reason;
  return result.isBound ? 'ok' : result.binding.reason;
}
