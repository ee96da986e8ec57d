/** Whether the identity that signed is one that may: authentic is not yet authorised. */

import type { SpiffeId } from './spiffe-id.ts';

export interface ExpectedIdentity {
  /** Compared as a whole; empty: nothing is bound. */
  readonly trustDomain: string;
  /** Absent: any workload of the trust domain may sign. */
  readonly workload?: { readonly namespace: string; readonly serviceAccount: string };
}

export interface Binding {
  readonly reason: 'Bound' | 'TrustDomainMismatch' | 'WorkloadMismatch';
  /** For people, with the next step where there is one. */
  readonly message: string;
}

export function bindingOf({ text, trustDomain }: SpiffeId, expected: ExpectedIdentity): Binding {
  const { workload } = expected;
  if (trustDomain !== expected.trustDomain) {
    const wanted =
      expected.trustDomain === ''
        ? 'no trust domain is configured'
        : `the trust domain must be ${expected.trustDomain}: sign it with an SVID of that one, or name the other in spec.identityBinding.trustDomain`;
    return { reason: 'TrustDomainMismatch', message: `the card is signed by ${shown(text)}; ${wanted}` };
  }
  if (workload === undefined) return { reason: 'Bound', message: `the card is signed by ${shown(text)}` };
  const wanted = `spiffe://${trustDomain}/ns/${workload.namespace}/sa/${workload.serviceAccount}`;
  if (text === wanted) return { reason: 'Bound', message: `the card is signed by ${shown(text)}, the workload itself` };
  return {
    reason: 'WorkloadMismatch',
    message: `the card is signed by ${shown(text)}; the workload is ${shown(wanted)}: sign it with the workload's own SVID`,
  };
}

function shown(id: string): string {
  return id.length > 300 ? `${id.slice(0, 299)}…` : id;
}
