/** Values of the input in messages: bounded, and with whole numbers of any size. */

const longest = 80;

/** The value as JSON, cut after 80 characters. */
export function shownValue(value: unknown): string {
  const text = JSON.stringify(withoutBigints(value)) ?? String(value);
  return text.length <= longest ? text : `${text.slice(0, longest).toWellFormed()}…`;
}

/** The same value with numbers in place of bigints: for schemas, which know no bigint. */
export function withoutBigints(value: unknown): unknown {
  if (typeof value === 'bigint') return Number(value);
  if (Array.isArray(value)) return value.map(withoutBigints);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, withoutBigints(each)]));
}
