/** Requests and limits of a container: their schema, and what no schema can say of them. */

import { Type } from 'typebox';
import { Quantities } from '../runtime/config/platform.ts';
import type { Violation } from '../runtime/config/violation.ts';
import { isAbove } from '../runtime/config/quantity.ts';
import { keyViolations, resourceNames } from './map-keys.ts';

/** Requests and limits in Kubernetes' own quantities. */
export interface ResourceQuantities {
  /** What is set aside for the container, by resource: `{ cpu: '100m', memory: '128Mi' }`. */
  readonly requests: Readonly<Record<string, string>>;
  /** What it may use at most, by resource. */
  readonly limits: Readonly<Record<string, string>>;
}

/** A row a map; both maps are of quantities that Kubernetes takes. */
export const Resources = Type.Object({ requests: Quantities, limits: Quantities });

/** What fits the schema and is refused by Kubernetes all the same: a resource of no such name, and a request above its limit. */
export function resourceViolations(resources: Partial<ResourceQuantities> | undefined): readonly Violation[] {
  const { requests = {}, limits = {} } = resources ?? {};
  return [
    ...keyViolations('resources.requests', requests, resourceNames),
    ...keyViolations('resources.limits', limits, resourceNames),
    ...Object.entries(requests).flatMap(([name, request]) => {
      const limit = limits[name];
      if (limit === undefined || !isAbove(request, limit)) return [];
      const message = `the request ${request} is above the limit ${limit}; raise resources.limits.${name}, or ask for less`;
      return [{ path: `resources.requests.${name}`, message }];
    }),
  ];
}
