/** Keys of the maps in props: a schema speaks of their values alone, and Kubernetes refuses an odd key as well. */

import { labelKeyPattern } from '../runtime/config/network-policy.ts';
import { shown } from '../runtime/config/problem.ts';
import type { Violation } from '../runtime/config/violation.ts';

/** What the keys of one kind of map must look like. */
export interface KeyRule {
  readonly pattern: RegExp;
  /** For people, with an example. */
  readonly expected: string;
}

export const labelKeys: KeyRule = {
  pattern: new RegExp(labelKeyPattern),
  expected:
    'the key of a label, optionally with a DNS name and a slash before it, for example app.kubernetes.io/part-of',
};

export const variableNames: KeyRule = {
  pattern: /^[-._A-Za-z][-._A-Za-z0-9]*$/,
  expected:
    'the name of an environment variable, of letters, digits, underscores, dashes and dots, for example MODEL_URL',
};

/** Those Kubernetes knows itself, and any with a domain of its own. */
export const resourceNames: KeyRule = {
  pattern: new RegExp(
    `^(cpu|memory|ephemeral-storage|hugepages-[1-9][0-9]*[KMG]i)$|^(?=[^/]+/)${labelKeyPattern.slice(1)}`,
  ),
  expected:
    'a resource: cpu, memory, ephemeral-storage, hugepages-2Mi or one with a domain, for example nvidia.com/gpu',
};

/** A violation for each key of the map at `path` that is none. An absent map has no keys. */
export function keyViolations(
  path: string,
  map: object | undefined,
  { pattern, expected }: KeyRule,
): readonly Violation[] {
  return Object.keys(map ?? {})
    .filter((key) => !pattern.test(key))
    .map((key) => ({ path, message: `the key ${shown(key)} is not allowed; must be ${expected}` }));
}
