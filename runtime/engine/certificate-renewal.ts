/** When an authority and a serving certificate are due, and what replaces them. */

import { certificatesIn, isIssuedBy, makeAuthority, makeLeaf } from './certificate-authority.ts';
import { bundleOf } from './certificate-bundle.ts';
import type { Holding } from './certificate-secret.ts';

export interface RenewalPolicy {
  /** Common name of the authorities. */
  readonly commonName: string;
  readonly dnsNames: readonly string[];
  readonly ipAddresses: readonly string[];
  /** In milliseconds. A certificate is replaced when two thirds of its time have passed. */
  readonly authorityMs: number;
  /** In milliseconds, at most a third of `authorityMs`: then no leaf is cut short by its authority's end. */
  readonly leafMs: number;
}

const dayMs = 86_400_000;

/** A year for the authority, 90 days for the leaf. */
export const defaultLifetimes = { authorityMs: 365 * dayMs, leafMs: 90 * dayMs } as const;

/** Clocks of API servers may be behind ours. */
const backdateMs = 5 * 60_000;

function isDue(notAfter: Date, lifetimeMs: number, now: Date): boolean {
  return notAfter.getTime() - now.getTime() <= lifetimeMs / 3;
}

function from(now: Date, lifetimeMs: number) {
  return { notBefore: new Date(now.getTime() - backdateMs), notAfter: new Date(now.getTime() + lifetimeMs) };
}

/** The holding with an authority that is not due; the previous ones stay in the bundle until they expire. The leaf stays. */
export async function withAuthority(holding: Holding, policy: RenewalPolicy, now: Date): Promise<Holding> {
  const rules = { commonName: policy.commonName, now };
  const [current] = certificatesIn(holding.authority?.certificate ?? '');
  const isGood = current !== undefined && !isDue(current.validToDate, policy.authorityMs, now);
  if (isGood && holding.authority !== undefined) {
    return { ...holding, bundle: bundleOf([holding.authority.certificate, holding.bundle], rules) };
  }
  const authority = await makeAuthority(policy.commonName, from(now, policy.authorityMs));
  return { ...holding, authority, bundle: bundleOf([authority.certificate, holding.bundle], rules) };
}

/** Why the leaf is to be replaced, or undefined. */
export function leafDue(holding: Holding, policy: RenewalPolicy, now: Date): string | undefined {
  const [leaf] = certificatesIn(holding.leaf?.certificate ?? '');
  const [authority] = certificatesIn(holding.authority?.certificate ?? '');
  if (leaf === undefined) return 'there is none';
  if (isDue(leaf.validToDate, policy.leafMs, now)) return 'it expires';
  if (!policy.dnsNames.every((name) => leaf.checkHost(name) !== undefined)) return 'it is for other names';
  if (!policy.ipAddresses.every((address) => leaf.checkIP(address) !== undefined)) return 'it is for other addresses';
  return authority !== undefined && isIssuedBy(leaf, authority) ? undefined : 'its authority is replaced';
}

/** The holding with a new leaf, signed by its newest authority. */
export async function withLeaf(holding: Holding, policy: RenewalPolicy, now: Date): Promise<Holding> {
  const { authority } = holding;
  if (authority === undefined) return holding;
  const { dnsNames, ipAddresses } = policy;
  return { ...holding, leaf: await makeLeaf({ authority, dnsNames, ipAddresses, ...from(now, policy.leafMs) }) };
}
