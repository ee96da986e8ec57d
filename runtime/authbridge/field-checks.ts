/** Checks of single fields and how they combine: each says what is wrong with a value at a path, and passes what is absent or null. */

import { isRecord } from './record.ts';

/** One sentence naming the field that is not of its type, or `undefined`. */
export type Check = (value: unknown, path: string) => string | undefined;

/** An object whose known fields pass; absent and null pass. */
export function fields(checks: Readonly<Record<string, Check>>): Check {
  const entries = Object.entries(checks);
  return (value, path) => {
    if (value === undefined || value === null) return undefined;
    if (!isRecord(value)) return `${path || 'the object'} must be a map, not ${typeName(value)}`;
    for (const [name, check] of entries) {
      const problem = check(value[name], path === '' ? name : `${path}.${name}`);
      if (problem !== undefined) return problem;
    }
    return undefined;
  };
}

export function named(checks: Readonly<Record<string, Check>>): Check {
  return required(fields({ name: required(text), ...checks }));
}

export function required(check: Check): Check {
  return (value, path) => (value === undefined || value === null ? `${path} is missing` : check(value, path));
}

export function list(check: Check): Check {
  return (value, path) => {
    if (value === undefined || value === null) return undefined;
    if (!Array.isArray(value)) return `${path} must be a list, not ${typeName(value)}`;
    for (const [index, element] of value.entries()) {
      const problem = required(check)(element, `${path}[${index}]`);
      if (problem !== undefined) return problem;
    }
    return undefined;
  };
}

export function filled(check: Check): Check {
  return (value, path) => (Array.isArray(value) && value.length === 0 ? `${path} is empty` : check(value, path));
}

export function text(value: unknown, path: string): string | undefined {
  if (value === undefined || value === null || typeof value === 'string') return undefined;
  const remedy = typeof value === 'object' ? '' : '; put it in quotes';
  return `${path} must be a string, not ${typeName(value)}${remedy}`;
}

/** A string that is there and says something. */
export function filledText(value: unknown, path: string): string | undefined {
  return required(text)(value, path) ?? (value === '' ? `${path} is empty` : undefined);
}

export function texts(value: unknown, path: string): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (!isRecord(value)) return `${path} must be a map of strings, not ${typeName(value)}`;
  for (const [key, element] of Object.entries(value)) {
    const problem = text(element, `${path}[${JSON.stringify(key)}]`);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

export function integer(value: unknown, path: string): string | undefined {
  if (value === undefined || value === null || Number.isInteger(value)) return undefined;
  return `${path} must be a whole number, not ${typeName(value)}`;
}

export function boolean(value: unknown, path: string): string | undefined {
  if (value === undefined || value === null || typeof value === 'boolean') return undefined;
  return `${path} must be true or false, not ${typeName(value)}`;
}

function typeName(value: unknown): string {
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'bigint') return `the number ${value}`;
  return typeof value === 'object' ? 'a map' : `the ${typeof value} ${JSON.stringify(value)}`;
}
