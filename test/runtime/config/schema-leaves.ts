/** Walks the configuration schema: every leaf with a valid value that differs from the compiled default. */

import { compiledDefaults, PlatformConfig, type PartialConfig } from '../../../runtime/config/platform.ts';

interface Node {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, Node>>;
  readonly additionalProperties?: Node;
  readonly enum?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
}

export interface SchemaLeaf {
  readonly path: string;
  /** Compiled default, `undefined` for an entry of a string map. */
  readonly standard: unknown;
  /** Valid and different. */
  readonly other: unknown;
}

/** Leaves in schema order; a string map stands for one leaf, its entry `x`. */
export function schemaLeaves(): readonly SchemaLeaf[] {
  return walk(PlatformConfig as Node, '', compiledDefaults);
}

function walk(node: Node, path: string, standard: unknown): readonly SchemaLeaf[] {
  if (node.properties !== undefined) {
    return Object.entries(node.properties).flatMap(([key, below]) =>
      walk(below, path === '' ? key : `${path}.${key}`, (standard as Readonly<Record<string, unknown>>)[key]),
    );
  }
  if (node.additionalProperties !== undefined) return [{ path: `${path}.x`, standard: undefined, other: '1' }];
  return [{ path, standard, other: different(node, path, standard) }];
}

function different(node: Node, path: string, standard: unknown): unknown {
  if (node.enum !== undefined) {
    // A one-value enumeration has no other valid value; the hash does not validate.
    return node.enum.find((value) => value !== standard) ?? 'another';
  }
  switch (node.type) {
    case 'boolean':
      return standard !== true;
    case 'integer':
    case 'number':
      return standard === node.minimum ? node.maximum : node.minimum;
    case 'array':
      return path.startsWith('networkPolicy') ? [{ podSelector: {} }] : ['other'];
    default:
      return 'https://other.example:4317/x';
  }
}

/** A partial configuration that sets one leaf. */
export function setting(path: string, value: unknown): PartialConfig {
  return path.split('.').reduceRight<unknown>((inner, step) => ({ [step]: inner }), value) as PartialConfig;
}
