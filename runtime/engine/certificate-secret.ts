/** What the certificate Secret holds: an authority with its key, a serving certificate with its key, and the trusted authorities. */

import { Buffer } from 'node:buffer';
import { certificatesIn, faultOf } from './certificate-authority.ts';
import { issuerIn } from './certificate-bundle.ts';
import type { ServingCertificate } from './server.ts';
import type { KubeObject, ObjectKey } from './types.ts';

/** The parts of a Secret that are read and written here. */
export interface SecretObject extends KubeObject {
  readonly type?: string;
  readonly data?: Readonly<Record<string, string>>;
}

/** A part that is missing or damaged is undefined. */
export interface Holding {
  /** The newest authority, which signs. */
  readonly authority: ServingCertificate | undefined;
  readonly leaf: ServingCertificate | undefined;
  /** The authorities to be trusted, PEM, the newest first. */
  readonly bundle: string;
}

export const nothing: Holding = { authority: undefined, leaf: undefined, bundle: '' };

export interface Found {
  readonly holding: Holding;
  /** What is wrong with the content, a sentence each. */
  readonly faults: readonly string[];
}

/** Reads a Secret; damage is reported and left out. */
export function holdingIn({ data = {} }: SecretObject): Found {
  const text = (key: string): string => Buffer.from(data[key] ?? '', 'base64').toString('utf8');
  const bundle = certificatesIn(text('ca.crt')).join('');
  const authority = { certificate: certificatesIn(bundle)[0]?.toString() ?? '', key: text('ca.key') };
  const leaf = { certificate: text('tls.crt'), key: text('tls.key') };
  const authorityFault = faultOf(authority);
  const leafFault =
    faultOf(leaf) ??
    (issuerIn(bundle, leaf.certificate) === undefined ? 'no authority beside it signed it' : undefined);
  return {
    holding: {
      authority: authorityFault === undefined ? authority : undefined,
      leaf: leafFault === undefined ? leaf : undefined,
      bundle,
    },
    faults: [
      ...(authorityFault === undefined ? [] : [`ca.crt and ca.key: ${authorityFault}`]),
      ...(leafFault === undefined ? [] : [`tls.crt and tls.key: ${leafFault}`]),
    ],
  };
}

/** Whether the Secret is one we made, by its labels, or holds nothing yet. Anybody else's is left alone. */
export function isOurs({ metadata, data = {} }: SecretObject, labels: Readonly<Record<string, string>>): boolean {
  if (Object.values(data).every((value) => value === '')) return true;
  return Object.entries(labels).every(([key, value]) => metadata.labels?.[key] === value);
}

export interface SecretNames {
  readonly key: ObjectKey;
  readonly labels: Readonly<Record<string, string>>;
}

/** The Secret for a holding; `live`, when there is one, keeps its metadata and so its resourceVersion. */
export function secretOf(holding: Holding, { key, labels }: SecretNames, live?: SecretObject): SecretObject {
  const encode = (text = ''): string => Buffer.from(text).toString('base64');
  const { managedFields: _, ...metadata } = live?.metadata ?? {};
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { ...metadata, ...key, labels: { ...metadata.labels, ...labels } },
    type: live?.type ?? 'kubernetes.io/tls',
    data: {
      'tls.crt': encode(holding.leaf?.certificate),
      'tls.key': encode(holding.leaf?.key),
      'ca.crt': encode(holding.bundle),
      'ca.key': encode(holding.authority?.key),
    },
  };
}
