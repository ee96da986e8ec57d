/** Drops what is null from an object, as an API server does when it reads one. */

import { isRecord } from '../authbridge/record.ts';

/** Maps of texts, where null is empty text. */
const textMaps: ReadonlySet<string> = new Set(['labels', 'annotations', 'matchLabels', 'nodeSelector', 'data']);
/** Maps of quantities, where null is none of them: 0. They are left as they are. */
const quantityMaps: ReadonlySet<string> = new Set(['limits', 'requests', 'overhead']);

/** The object without members that are null. Elements of lists stay: there null is a fault. */
export function withoutNulls<T>(value: T): T {
  return without(value, '') as T;
}

function without(value: unknown, name: string): unknown {
  if (Array.isArray(value)) return value.map((each) => without(each, name));
  if (!isRecord(value) || quantityMaps.has(name)) return value;
  const isTexts = textMaps.has(name);
  const entries = Object.entries(value).filter(([, each]) => isTexts || (each !== null && each !== undefined));
  return Object.fromEntries(entries.map(([key, each]) => [key, isTexts ? (each ?? '') : without(each, key)]));
}
