/** About which namespaces a webhook is asked, as far as its registration says so by name. */

import type { WebhookEntry } from '../api/kubernetes.ts';
import { namespaceNameLabel } from '../api/names.ts';
import { selects } from '../workload/selector.ts';

/** Whether it may be asked about objects of this namespace: what its selector wants of other labels is not known, and may be there. */
export function isAskedAbout({ namespaceSelector = {} }: WebhookEntry, namespace: string): boolean {
  const byName = (namespaceSelector.matchExpressions ?? []).filter(({ key }) => key === namespaceNameLabel);
  return selects({ matchExpressions: byName }, { [namespaceNameLabel]: namespace });
}

/** The namespaces that its selector lists; none where it does not list them. */
export function listedNamespaces({ namespaceSelector = {} }: WebhookEntry): readonly string[] {
  const lists = (namespaceSelector.matchExpressions ?? []).filter(
    ({ key, operator }) => key === namespaceNameLabel && operator === 'In',
  );
  return lists.flatMap(({ values = [] }) => values);
}
