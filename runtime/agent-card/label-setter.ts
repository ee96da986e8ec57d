/** Who has set the verified label on a pod, by the API server's own record. */

import { labels, userAgent } from '../api/names.ts';
import type { KubeObject, ManagedFields } from '../engine/types.ts';

/** What the cache keeps of such a pod: its metadata, and of the record the names of those alone who set the label. */
export function keepSetters(pod: KubeObject): KubeObject {
  const { managedFields = [] } = pod.metadata;
  const setters = managedFields.filter(setsLabel).map(({ manager = '' }) => ({ manager }));
  return { ...pod, metadata: { ...pod.metadata, managedFields: setters } };
}

/** One operator, this process or another. */
export function isSetByOperator({ metadata }: KubeObject): boolean {
  return metadata.managedFields?.some(({ manager }) => manager === userAgent) === true;
}

function setsLabel({ fieldsV1 }: ManagedFields): boolean {
  const { 'f:metadata': metadata } = (fieldsV1 ?? {}) as { readonly 'f:metadata'?: { readonly 'f:labels'?: object } };
  return `f:${labels.signatureVerified}` in (metadata?.['f:labels'] ?? {});
}
