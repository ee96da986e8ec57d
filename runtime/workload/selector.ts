/** Label selectors: a workload's own, which pods one selects, and when two are the same. */

import type { LabelSelector } from '../api/kubernetes.ts';
import { canonicalJson } from '../encoding/canonical-json.ts';
import type { Workload } from './workload.ts';

type Labels = Readonly<Record<string, string>>;
type Expression = NonNullable<LabelSelector['matchExpressions']>[number];

/** As the API server stores it. A kind that has none gives an empty one. */
export function selectorOf({ object }: Workload): LabelSelector {
  return (object as { readonly spec?: { readonly selector?: LabelSelector } }).spec?.selector ?? {};
}

export function isSameSelector(a: LabelSelector | undefined, b: LabelSelector): boolean {
  return a !== undefined && canonicalJson(a) === canonicalJson(b);
}

/** As the API server defines it. An operator that is not known selects nothing. */
export function selects({ matchLabels = {}, matchExpressions = [] }: LabelSelector, labels: Labels): boolean {
  return (
    Object.entries(matchLabels).every(([key, value]) => labels[key] === value) &&
    matchExpressions.every((expression) => holds(expression, labels))
  );
}

function holds({ key, operator, values = [] }: Expression, labels: Labels): boolean {
  const value = Object.hasOwn(labels, key) ? labels[key] : undefined;
  switch (operator) {
    case 'In':
      return value !== undefined && values.includes(value);
    case 'NotIn':
      return value === undefined || !values.includes(value);
    case 'Exists':
      return value !== undefined;
    case 'DoesNotExist':
      return value === undefined;
    default:
      return false;
  }
}

/** Selects every pod of its namespace. */
export function isEverything({ matchLabels = {}, matchExpressions = [] }: LabelSelector): boolean {
  return Object.keys(matchLabels).length === 0 && matchExpressions.length === 0;
}
