/** Compares what a layer sets with the schema: unknown keys, wrong types and values out of bounds, each with a remedy. */

import type { TSchema } from 'typebox';
import { Errors } from 'typebox/value';
import { isSection, type Section } from './overlay.ts';
import { shortened, shown } from './problem.ts';
import type { Violation } from './violation.ts';
import { suggestion } from './suggest.ts';

/** The keywords our schemas use. */
interface Node {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, Node>>;
  readonly additionalProperties?: Node;
  readonly items?: Node;
  readonly enum?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly maxItems?: number;
  readonly maxProperties?: number;
  readonly description?: string;
}

/** Every violation of `schema` by a partial value: any key may be absent, none may be unknown. Never throws. */
export function violationsOf(schema: TSchema, value: unknown): readonly Violation[] {
  const root = schema as Node;
  if (!isSection(value)) return [{ path: '', message: `the document must be ${allowed(root)}` }];
  return check(root, value, '', (key) => elsewhere(root, key));
}

type Hint = (key: string) => string | undefined;

function check(node: Node, value: unknown, path: string, hint: Hint): readonly Violation[] {
  if (node.type === 'object') {
    if (!isSection(value)) return [{ path, message: `${named(value)}; must be ${allowed(node)}` }];
    return checkObject(node, value, path, hint);
  }
  if (node.type === 'array') {
    if (!Array.isArray(value)) return [{ path, message: `${named(value)}; must be ${allowed(node)}` }];
    return checkList(node, value, path, hint);
  }
  return checkScalar(node, value, path);
}

function checkObject(node: Node, value: Section, path: string, hint: Hint): readonly Violation[] {
  const { properties, additionalProperties, maxProperties = Infinity } = node;
  const keys = Object.keys(value);
  if (keys.length > maxProperties)
    return [{ path, message: `has ${keys.length} keys; at most ${maxProperties} are allowed` }];
  return keys.flatMap((key): readonly Violation[] => {
    const below = path === '' ? key : `${path}.${key}`;
    if (properties === undefined) {
      return additionalProperties === undefined ? [] : check(additionalProperties, value[key], below, hint);
    }
    const known = Object.hasOwn(properties, key) ? properties[key] : undefined;
    return known === undefined
      ? [{ path: below, message: unknownKey(key, path, Object.keys(properties), hint) }]
      : check(known, value[key], below, hint);
  });
}

function checkList(node: Node, items: readonly unknown[], path: string, hint: Hint): readonly Violation[] {
  const { items: item, maxItems = Infinity } = node;
  if (items.length > maxItems)
    return [{ path, message: `has ${items.length} entries; at most ${maxItems} are allowed` }];
  if (item === undefined) return [];
  return items.flatMap((each, i) => check(item, each, `${path}[${i}]`, hint));
}

function checkScalar(node: Node, value: unknown, path: string): readonly Violation[] {
  const [error] = Errors(node as TSchema, value);
  if (error === undefined) return [];
  const message =
    error.keyword === 'type'
      ? wrongType(node, value)
      : `${shown(value)} is not allowed; ${expected(node, error.keyword)}`;
  return [{ path, message }];
}

/** A pattern is for programs: its description says the same to people, with an example. */
function expected(node: Node, keyword: string): string {
  return keyword === 'pattern' ? `must be text${described(node)}` : `must be ${allowed(node)}`;
}

/** `path` is that of the section which the key is in. */
function unknownKey(key: string, path: string, known: readonly string[], hint: Hint): string {
  const close = suggestion(key, known);
  const meant = close ?? hint(key);
  if (meant === undefined) return `unknown key; allowed are ${shortenedList(known)}`;
  const above = meant.slice(0, -key.length);
  if (close !== undefined || !path.startsWith(above)) return `unknown key; did you mean ${meant}?`;
  // It is a key of a section around this one; its own path would read as a question about what was written.
  const [beside = ''] = path.slice(above.length).split(/[.[]/);
  return `unknown key; it belongs beside ${above}${beside}, not below it`;
}

/** The most frequent slip is a quoted boolean or number, or a number where text belongs: say exactly what to write. */
function wrongType(node: Node, value: unknown): string {
  if (node.type === 'string' && (Number.isFinite(value) || typeof value === 'boolean')) {
    return `${shown(value)} is a ${typeof value}; write it in quotes: "${shown(value)}"`;
  }
  const unquoted =
    (node.type === 'boolean' && (value === 'true' || value === 'false')) ||
    (isNumeric(node) && typeof value === 'string' && /^-?\d+(\.\d+)?$/.test(value));
  if (unquoted) return `${shown(value)} is a string; write ${value} without quotes`;
  if (typeof value === 'bigint' && isNumeric(node)) return `${value}n is a bigint; write ${value} without n`;
  return `${named(value)}; must be ${allowed(node)}`;
}

function isNumeric({ type }: Node): boolean {
  return type === 'integer' || type === 'number';
}

function named(value: unknown): string {
  if (typeof value === 'function') return 'is a function';
  if (typeof value === 'number' && !Number.isFinite(value)) return `${value} is no finite number`;
  if (value === undefined) return 'is empty';
  if (Array.isArray(value)) return 'is a list';
  if (isSection(value)) return 'is a section';
  return value === null ? 'has no value' : `${shown(value)} is a ${typeof value}`;
}

function allowed(node: Node): string {
  if (node.enum !== undefined) return `one of ${node.enum.join(', ')}`;
  switch (node.type) {
    case 'boolean':
      return 'true or false';
    case 'integer':
      return `a whole number${range(node)}`;
    case 'number':
      return `a number${range(node)}`;
    case 'array':
      return 'a list';
    case 'object':
      return node.properties === undefined
        ? 'a section'
        : `a section with ${shortenedList(Object.keys(node.properties))}`;
    default:
      return `text of ${node.minLength ?? 0} to ${node.maxLength ?? 'any number of'} characters${described(node)}`;
  }
}

function range({ minimum, maximum }: Node): string {
  return minimum === undefined || maximum === undefined ? '' : ` from ${minimum} to ${maximum}`;
}

/** A description says more to a person than a pattern; without one the pattern is all there is. */
function described({ description, pattern }: Node): string {
  if (description !== undefined) return `: ${description.replace(/\.$/, '')}`;
  return pattern === undefined ? '' : ` matching ${pattern}`;
}

function shortenedList(names: readonly string[]): string {
  const all = names.join(', ');
  return names.length <= 16 ? all : shortened(all).replace(/, [^,]*…$/, ', …');
}

/** The one path at which a key of this name exists: somebody wrote a leaf without its section. */
function elsewhere(node: Node, key: string): string | undefined {
  const found = pathsOf(node, key, '');
  return found.length === 1 ? found[0] : undefined;
}

function pathsOf(node: Node, key: string, path: string): readonly string[] {
  return Object.entries(node.properties ?? {}).flatMap(([name, below]) => {
    const at = path === '' ? name : `${path}.${name}`;
    return [...(name === key ? [at] : []), ...pathsOf(below, key, at)];
  });
}
