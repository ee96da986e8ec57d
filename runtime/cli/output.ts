/** Objects → text that kubectl reads as what was meant. */

import { Document as YamlDocument, visit } from 'yaml';
import { kubectlNumber } from './kubectl-number.ts';

export type Format = 'yaml' | 'json';

/** One object as it is, several as a `v1 List`, none as nothing. */
export function printed(objects: readonly unknown[], { format, asList }: { format: Format; asList: boolean }): string {
  if (objects.length === 0) return '';
  const value = asList ? { apiVersion: 'v1', kind: 'List', items: objects } : objects[0];
  return format === 'json' ? `${jsonText(value)}\n` : yamlText(value);
}

/**
 * No anchors, no folding; text that YAML 1.1 would take for a number, a boolean or a date is quoted, and characters that some YAML parsers
 * refuse or fold (C1 controls, the line separators of Unicode, non-characters) are escaped, which only double quotes allow.
 */
function yamlText(value: unknown): string {
  const document = new YamlDocument(value, { aliasDuplicateObjects: false, compat: 'yaml-1.1' });
  visit(document, {
    Scalar: (_, node) => {
      if (typeof node.value === 'string' && mustQuote(node.value)) node.type = 'QUOTE_DOUBLE';
    },
  });
  const text = document.toString({ lineWidth: 0 });
  return text.replaceAll(
    new RegExp(unprintable, 'g'),
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** The library knows what YAML 1.1 and 1.2 take for a number, and kubectl takes `0X1F` for one too. */
function mustQuote(text: string): boolean {
  return new RegExp(unprintable).test(text) || (/^[-+.0-9]/.test(text) && kubectlNumber(text) !== text);
}

const unprintable = '[\\u007f-\\u009f\\u2028\\u2029\\ufeff\\ufffe\\uffff]';

/** Whole numbers beyond 2^53 (bigint) keep their digits. */
function jsonText(value: unknown): string {
  return JSON.stringify(value, (_, each: unknown) => (typeof each === 'bigint' ? rawJson(String(each)) : each), 2);
}

function rawJson(text: string): unknown {
  return (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON(text);
}
