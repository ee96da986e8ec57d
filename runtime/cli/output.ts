/** Objects → text that kubectl reads as what was meant. */

import { stringify } from 'yaml';

export type Format = 'yaml' | 'json';

/** One object as it is, several as a `v1 List`, none as nothing. */
export function printed(objects: readonly unknown[], { format, asList }: { format: Format; asList: boolean }): string {
  if (objects.length === 0) return '';
  const value = asList ? { apiVersion: 'v1', kind: 'List', items: objects } : objects[0];
  return format === 'json' ? `${jsonText(value)}\n` : yamlText(value);
}

/** No anchors, no folding; text that YAML 1.1 would take for a number, a boolean or a date is quoted. */
function yamlText(value: unknown): string {
  return stringify(value, { lineWidth: 0, aliasDuplicateObjects: false, compat: 'yaml-1.1' });
}

/** Whole numbers beyond 2^53 (bigint) keep their digits. */
function jsonText(value: unknown): string {
  return JSON.stringify(value, (_, each: unknown) => (typeof each === 'bigint' ? rawJson(String(each)) : each), 2);
}

function rawJson(text: string): unknown {
  return (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON(text);
}
