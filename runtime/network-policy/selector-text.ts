/** A label selector in the text form that lists are asked with. */

import type { LabelSelector } from '../api/kubernetes.ts';

type Expression = NonNullable<LabelSelector['matchExpressions']>[number];

/** What it does not know it leaves out: the list is then longer, and whoever asked looks for itself. */
export function selectorText({ matchLabels = {}, matchExpressions = [] }: LabelSelector): string {
  const pairs = Object.entries(matchLabels).map(([key, value]) => `${key}=${value}`);
  return [...pairs, ...matchExpressions.flatMap(requirement)].join(',');
}

function requirement({ key, operator, values = [] }: Expression): readonly string[] {
  switch (operator) {
    case 'In':
      return [`${key} in (${values.join(',')})`];
    case 'NotIn':
      return [`${key} notin (${values.join(',')})`];
    case 'Exists':
      return [key];
    case 'DoesNotExist':
      return [`!${key}`];
    default:
      return [];
  }
}
