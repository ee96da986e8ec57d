/** Reads a setting that is written as JSON in one variable of the environment: strict, and what is wrong is told with its path. */

import type { TSchema } from 'typebox';
import { violationsOf } from '../config/check.ts';
import type { Violation } from '../config/violation.ts';
import { parseStrictJson } from '../encoding/strict-json.ts';

/** The value, or what is wrong with it in one sentence that begins with the variable's name. */
export type Setting<T> = { readonly value: T } | { readonly problem: string };

/** A variable cannot be larger on Linux. */
const limits = { bytes: 131_072, depth: 8 };
const spelledOut = 3;

/**
 * The variable `name` as a value of `schema`, which then must also satisfy `rules` (given only what fits the schema). Nothing, or empty text:
 * `empty`. The schema's cast is sound: what does not fit is never returned.
 */
export function readJsonSetting<T>(
  name: string,
  text: string | undefined,
  { schema, empty, rules }: { schema: TSchema; empty: T; rules: (value: T) => readonly Violation[] },
): Setting<T> {
  if (text === undefined || text.trim() === '') return { value: empty };
  const parsed = parseStrictJson(Buffer.from(text), limits);
  if ('fault' in parsed) return { problem: `${name}: no JSON: ${parsed.fault.message}` };
  const root = { type: 'object', properties: { [name]: schema } } as TSchema;
  const misfits = violationsOf(root, { [name]: parsed.value });
  if (misfits.length > 0) return { problem: sentence(misfits) };
  const value = parsed.value as T;
  const violations = rules(value).map(({ path, message }) => ({ path: `${name}${path}`, message }));
  return violations.length === 0 ? { value } : { problem: sentence(violations) };
}

function sentence(violations: readonly Violation[]): string {
  const told = violations.slice(0, spelledOut).map(({ path, message }) => `${path}: ${message}`);
  const more = violations.length - told.length;
  return `${told.join('; ')}${more > 0 ? `; and ${more} more` : ''}`;
}
