/** A schema as rows: each field with its path, what it takes, whether it must be there, and its text. */

import { code, codes } from './markdown.ts';

/** The keywords our schemas use. */
export interface SchemaNode {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: SchemaNode;
  readonly items?: SchemaNode;
  readonly enum?: readonly string[];
  readonly format?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly maxItems?: number;
  readonly maxProperties?: number;
  readonly description?: string;
}

/** One field. */
export interface FieldRow {
  /** Dotted; `[]` follows a list. */
  readonly path: string;
  readonly node: SchemaNode;
  readonly isRequired: boolean;
}

/** Every field below a section, the section before what is in it. The section itself is no row. */
export function fieldRows(section: SchemaNode, prefix = ''): readonly FieldRow[] {
  return Object.entries(section.properties ?? {}).flatMap(([name, node]): readonly FieldRow[] => {
    const path = prefix === '' ? name : `${prefix}.${name}`;
    const isRequired = section.required?.includes(name) ?? false;
    return [{ path, node, isRequired }, ...below(node, path)];
  });
}

function below(node: SchemaNode, path: string): readonly FieldRow[] {
  return node.items === undefined ? fieldRows(node, path) : fieldRows(node.items, `${path}[]`);
}

/** What a value must be: its type and its bounds. */
export function allowed(node: SchemaNode): string {
  if (node.enum !== undefined) return codes(node.enum);
  const limits = bounds(node);
  return limits === '' ? typeName(node) : `${typeName(node)}, ${limits}`;
}

const typeNames: Readonly<Record<string, string>> = {
  string: 'text',
  integer: 'whole number',
  number: 'number',
  boolean: 'true or false',
  object: 'section',
};

function typeName(node: SchemaNode): string {
  if (node.format === 'date-time') return 'time';
  if (node.items !== undefined) return `list of ${plural(node.items)}`;
  if (node.additionalProperties !== undefined) return `map of ${plural(node.additionalProperties)}`;
  return typeNames[node.type ?? ''] ?? 'any';
}

function plural(node: SchemaNode): string {
  if (node.enum !== undefined) return codes(node.enum);
  return node.type === 'object' ? 'sections' : typeName(node);
}

/** The bounds alone; nothing without bounds. */
export function bounds({ minimum, maximum, minLength, maxLength, ...node }: SchemaNode): string {
  if (minimum !== undefined) return maximum === undefined ? `at least ${minimum}` : `${minimum} to ${maximum}`;
  if (maxLength !== undefined) return `${minLength ?? 0} to ${maxLength} characters`;
  if (node.maxItems !== undefined) return `at most ${node.maxItems}`;
  return node.maxProperties === undefined ? '' : `at most ${node.maxProperties}`;
}

/** A value as YAML has it in one line; text is as it is. */
export function valueText(value: unknown): string {
  if (value === '' || (Array.isArray(value) && value.length === 0)) return 'none';
  return code(typeof value === 'string' ? value : JSON.stringify(value));
}
