/** A card without what is empty: null, "", [] and {}, children first; some signers leave these out of what they sign. */

import { isJsonObject, type Json, type JsonObject, setMember } from '../encoding/strict-json.ts';
import type { Omissions } from './omissions.ts';

/** The root stays, however empty. */
export function withoutEmpties(card: JsonObject, omissions: Omissions): JsonObject {
  return members(card, { omissions, isIntoNestedArrays: true });
}

/** As the Go signer does it: an array directly within an array is left as it is. */
export function withoutGoEmpties(card: JsonObject, omissions: Omissions): JsonObject {
  return members(card, { omissions, isIntoNestedArrays: false });
}

interface Cleaning {
  readonly omissions: Omissions;
  readonly isIntoNestedArrays: boolean;
}

function members(object: JsonObject, cleaning: Cleaning): JsonObject {
  const kept: Record<string, Json> = {};
  for (const [name, value] of Object.entries(object)) {
    cleaning.omissions.enter(name);
    const cleaned = clean(value, cleaning);
    cleaning.omissions.leave();
    if (cleaned !== undefined) setMember(kept, name, cleaned);
  }
  return kept;
}

function items(list: readonly Json[], cleaning: Cleaning): readonly Json[] {
  const kept: Json[] = [];
  for (const [at, item] of list.entries()) {
    cleaning.omissions.enter(at);
    const cleaned = Array.isArray(item) && !cleaning.isIntoNestedArrays ? item : clean(item, cleaning);
    cleaning.omissions.leave();
    if (cleaned !== undefined) kept.push(cleaned);
  }
  return kept;
}

/** Undefined: nothing is left. */
function clean(value: Json, cleaning: Cleaning): Json | undefined {
  const mark = cleaning.omissions.mark();
  const cleaned = remainder(value, cleaning);
  if (!isEmpty(cleaned)) return cleaned;
  cleaning.omissions.note(mark);
  return undefined;
}

function remainder(value: Json, cleaning: Cleaning): Json {
  if (isJsonObject(value)) return members(value, cleaning);
  return Array.isArray(value) ? items(value as readonly Json[], cleaning) : value;
}

function isEmpty(value: Json): boolean {
  if (value === null || value === '') return true;
  return typeof value === 'object' && Object.keys(value).length === 0;
}
