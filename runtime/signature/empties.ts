/** A card without what is empty: null, "", [] and {}, children first; some signers leave these out of what they sign. */

import { isJsonObject, type Json, type JsonObject } from '../encoding/strict-json.ts';
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
  const kept = Object.entries(object).flatMap(([name, value]): readonly (readonly [string, Json])[] => {
    const cleaned = cleaning.omissions.within(name, () => clean(value, cleaning));
    return cleaned === undefined ? [] : [[name, cleaned]];
  });
  return Object.fromEntries(kept) as Record<string, Json>;
}

function items(list: readonly Json[], cleaning: Cleaning): readonly Json[] {
  return list.flatMap((item, at): readonly Json[] => {
    if (Array.isArray(item) && !cleaning.isIntoNestedArrays) return [item];
    const cleaned = cleaning.omissions.within(at, () => clean(item, cleaning));
    return cleaned === undefined ? [] : [cleaned];
  });
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
