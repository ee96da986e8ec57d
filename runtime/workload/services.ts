/** The Services that reach a workload's pods, found by selector, and where the pods of a headless one listen. */

import type { EndpointSlice, Pod, Service } from '../api/kubernetes.ts';
import type { Reader } from '../engine/types.ts';
import { endpointSlices, selectorIndex, services } from './watches.ts';
import type { Workload } from './workload.ts';

type StringMap = Readonly<Record<string, string>>;

/**
 * Those that select at least one of these pods of the workload, sorted by name; not those that are being deleted. By the pods' own labels:
 * Kubernetes adds some that no template has (`pod-template-hash`, `statefulset.kubernetes.io/pod-name`), and in a rollout the template's are not
 * those of the old pods. Without a pod: those that would select one made from the template.
 */
export function servicesOf(
  reader: Reader,
  { namespace, templateLabels }: Workload,
  pods: readonly Pod[],
): readonly Service[] {
  const labelled = pods.length === 0 ? [templateLabels] : pods.map(({ metadata }) => metadata.labels ?? {});
  const pairs = new Set(labelled.flatMap((labels) => Object.entries(labels).map((pair) => selectorIndex(...pair))));
  return [...pairs]
    .flatMap((value) => reader.list(services, { namespace, index: { name: 'selector', value } }))
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
    .filter((service) => labelled.some((labels) => selects(service, labels)))
    .sort((a, b) => ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1));
}

/** Whether a Service reaches pods with these labels. One without a selector reaches none that is known. */
export function selects({ spec }: Service, labels: StringMap): boolean {
  const pairs = Object.entries(spec?.selector ?? {});
  return pairs.length > 0 && pairs.every(([key, value]) => labels[key] === value);
}

/** The EndpointSlices of a headless Service, sorted by name. */
export function slicesOf(reader: Reader, { metadata }: Service): readonly EndpointSlice[] {
  const { namespace, name = '' } = metadata;
  return reader
    .list(endpointSlices, { namespace, index: { name: 'service', value: name } })
    .toSorted((a, b) => ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1));
}
