/** The Services that reach a workload's pods, found by selector, and where the pods of a headless one listen. */

import type { EndpointSlice, Service } from '../api/kubernetes.ts';
import type { Reader } from '../engine/types.ts';
import { endpointSlices, selectorIndex, services } from './watches.ts';
import type { Workload } from './workload.ts';

type StringMap = Readonly<Record<string, string>>;

/** Those whose selector matches the labels of the workload's pod template, sorted by name; not those that are being deleted. */
export function servicesOf(reader: Reader, { namespace, templateLabels }: Workload): readonly Service[] {
  return Object.entries(templateLabels)
    .flatMap((pair) => reader.list(services, { namespace, index: { name: 'selector', value: selectorIndex(...pair) } }))
    .filter((service) => selects(service, templateLabels) && service.metadata.deletionTimestamp === undefined)
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
