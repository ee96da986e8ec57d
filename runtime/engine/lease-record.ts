/** The Lease object: who holds it, in the form and with the times that Kubernetes demands. */

import type { Kind, KubeObject, ObjectKey } from './types.ts';

export interface LeaseSpec {
  readonly holderIdentity?: string | undefined;
  readonly leaseDurationSeconds?: number | undefined;
  readonly acquireTime?: string | undefined;
  readonly renewTime?: string | undefined;
  readonly leaseTransitions?: number | undefined;
}

export interface LeaseObject extends KubeObject {
  readonly spec?: LeaseSpec;
}

export const leaseKind: Kind<LeaseObject> = {
  apiVersion: 'coordination.k8s.io/v1',
  kind: 'Lease',
  plural: 'leases',
  namespaced: true,
};

/** `metav1.MicroTime`: exactly six fractional digits, or the API server refuses the whole object. */
export function leaseTime(at: Date): string {
  return at.toISOString().replace(/(\.\d{3})Z$/, '$1000Z');
}

export interface Holder {
  readonly identity: string;
  readonly durationSeconds: number;
}

/** A lease that nobody has held yet, taken by `holder`. */
export function newLease(key: ObjectKey, holder: Holder, now: Date): LeaseObject {
  return {
    apiVersion: leaseKind.apiVersion,
    kind: leaseKind.kind,
    metadata: { namespace: key.namespace, name: key.name },
    spec: { ...heldBy(holder, now), acquireTime: leaseTime(now), leaseTransitions: 0 },
  };
}

/** The lease with `holder` as its holder now: a renewal when it held it before, else a transition. Other fields stay. */
export function taken(lease: LeaseObject, holder: Holder, now: Date): LeaseObject {
  const { spec = {} } = lease;
  if (spec.holderIdentity === holder.identity) return { ...lease, spec: { ...spec, ...heldBy(holder, now) } };
  const leaseTransitions = (spec.leaseTransitions ?? 0) + 1;
  return { ...lease, spec: { ...spec, ...heldBy(holder, now), acquireTime: leaseTime(now), leaseTransitions } };
}

/** The lease without a holder, free for the next at once. */
export function released(lease: LeaseObject, now: Date): LeaseObject {
  const spec = { ...lease.spec, holderIdentity: '', leaseDurationSeconds: 1, renewTime: leaseTime(now) };
  return { ...lease, spec };
}

function heldBy({ identity, durationSeconds }: Holder, now: Date): LeaseSpec {
  return { holderIdentity: identity, leaseDurationSeconds: durationSeconds, renewTime: leaseTime(now) };
}
