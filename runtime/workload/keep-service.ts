/** What the cache keeps of a Service and of an EndpointSlice: whom it reaches, at which address and port. */

import type { EndpointSlice, Service } from '../api/kubernetes.ts';
import { annotations } from '../api/names.ts';
import type { ObjectMeta } from '../engine/types.ts';

/** On an EndpointSlice: the Service it belongs to. */
export const serviceLabel = 'kubernetes.io/service-name';

export function keepService({ apiVersion, kind, metadata, spec }: Service): Service {
  const port = metadata.annotations?.[annotations.port];
  return {
    apiVersion,
    kind,
    metadata: {
      ...identity(metadata),
      ...(port === undefined ? {} : { annotations: { [annotations.port]: port } }),
    },
    spec: present({
      type: spec?.type,
      clusterIP: spec?.clusterIP,
      selector: spec?.selector,
      ports: spec?.ports?.map(({ name, port, targetPort, protocol }) => present({ name, port, targetPort, protocol })),
    }),
  };
}

export function keepEndpointSlice({ apiVersion, kind, metadata, ...slice }: EndpointSlice): EndpointSlice {
  const service = metadata.labels?.[serviceLabel];
  return {
    apiVersion,
    kind,
    metadata: { ...identity(metadata), ...(service === undefined ? {} : { labels: { [serviceLabel]: service } }) },
    addressType: slice.addressType,
    endpoints: (slice.endpoints ?? []).map(({ addresses, conditions }) => ({
      addresses,
      ...(conditions?.ready === undefined ? {} : { conditions: { ready: conditions.ready } }),
    })),
    ports: (slice.ports ?? []).map(({ name, port, protocol }) => present({ name, port, protocol })),
  };
}

function identity({ name, namespace, uid, resourceVersion, deletionTimestamp }: ObjectMeta): ObjectMeta {
  return present({ name, namespace, uid, resourceVersion, deletionTimestamp });
}

/** Without the members that are undefined, null or empty text. */
function present<T extends object>(members: T): T {
  return Object.fromEntries(
    Object.entries(members).filter(([, value]) => value !== undefined && value !== null && value !== ''),
  ) as T;
}
