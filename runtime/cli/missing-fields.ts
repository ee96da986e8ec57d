/** Finds the required fields that an object does not have. */

import type { TSchema } from 'typebox';
import { isRecord } from '../authbridge/record.ts';

/** The keywords that matter here. */
interface Node {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, Node>>;
  readonly required?: readonly string[];
}

/** One sentence for each required field of `schema` that is missing, by its dotted path. */
export function missingFields(schema: TSchema, value: unknown, path: string): readonly string[] {
  return missing(schema as Node, value, path);
}

function missing({ properties = {}, required = [] }: Node, value: unknown, path: string): readonly string[] {
  if (value === undefined || value === null) return [`${path} is missing`];
  if (!isRecord(value)) return [`${path} must be an object`];
  const here = required.filter((name) => value[name] === undefined || value[name] === null);
  const below = Object.entries(properties).filter(([name, node]) => node.type === 'object' && isRecord(value[name]));
  return [
    ...here.map((name) => `${path}.${name} is missing`),
    ...below.flatMap(([name, node]) => missing(node, value[name], `${path}.${name}`)),
  ];
}
