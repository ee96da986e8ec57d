/** The certificates that may end a path: read from PEM or from a SPIFFE bundle document, found in a ConfigMap's data. */

import { sha256Hex } from '../encoding/digest.ts';
import { isJsonObject, type Json, parseStrictJson } from '../encoding/strict-json.ts';
import type { Certificate } from './certificate.ts';
import { certificateIn, pemCertificates } from './pem.ts';

/** A certificate of the bundle. Whether it may issue is judged when a path ends at it. */
export type Anchor = Certificate;

export interface TrustBundle {
  /** SHA-256 of the text, hex. */
  readonly hash: string;
  /** Each certificate once, in the order of the text; none: nothing verifies. */
  readonly anchors: readonly Anchor[];
  /** A sentence for each part that could not be used. */
  readonly warnings: readonly string[];
}

type Found = Omit<TrustBundle, 'hash'>;

/** What a ConfigMap may hold, twice. */
const limits = { bytes: 2 * 1024 * 1024, depth: 16 };
const mostWarnings = 20;

/** Reads PEM or a SPIFFE bundle document, whichever the text is. Without anchors the reason is the first warning. Never throws. */
export function parseTrustBundle(text: string): TrustBundle {
  const { anchors, warnings } = text.trimStart().startsWith('{') ? spiffeAnchors(text) : pemAnchors(text);
  const distinct = [...new Map(anchors.map((anchor) => [anchor.fingerprint, anchor])).values()];
  const more = warnings.length - mostWarnings;
  const told = more > 0 ? [...warnings.slice(0, mostWarnings), `${more} more parts could not be used`] : warnings;
  return { hash: sha256Hex(text), anchors: distinct, warnings: told };
}

function pemAnchors(text: string): Found {
  const { certificates, faults } = pemCertificates(text);
  if (certificates.length > 0 || faults.length > 0) return { anchors: certificates, warnings: faults };
  const what =
    text.trim() === '' ? 'it is empty' : 'it holds no PEM block CERTIFICATE and is no SPIFFE bundle document';
  return { anchors: [], warnings: [what] };
}

/** SPIFFE Trust Domain and Bundle section 4, X509-SVID section 6.2: only `x509-svid` keys, and of their `x5c` the first value. */
function spiffeAnchors(text: string): Found {
  const parsed = parseStrictJson(Buffer.from(text), limits);
  if ('fault' in parsed) return { anchors: [], warnings: [`it is no SPIFFE bundle document: ${parsed.fault.message}`] };
  const keys = isJsonObject(parsed.value) ? parsed.value['keys'] : undefined;
  if (!Array.isArray(keys))
    return { anchors: [], warnings: ['it is no SPIFFE bundle document: it has no list of keys'] };
  const found = gathered((keys as readonly Json[]).flatMap((key, at) => keyAnchor(key, at + 1)));
  const isEmpty = found.anchors.length === 0 && found.warnings.length === 0;
  return isEmpty ? { anchors: [], warnings: ['it has no key for the use x509-svid: nothing is trusted'] } : found;
}

function keyAnchor(key: Json, number: number): readonly (Anchor | string)[] {
  if (!isJsonObject(key) || key['use'] !== 'x509-svid') return [];
  const { x5c } = key;
  const first: Json | undefined = Array.isArray(x5c) ? (x5c as readonly Json[])[0] : undefined;
  if (typeof first !== 'string') return [`key ${number} is left out: it has no x5c`];
  const read = certificateIn(first);
  return [typeof read === 'string' ? `key ${number} is left out: ${read}` : read];
}

function gathered(parts: readonly (Anchor | string)[]): Found {
  return {
    anchors: parts.filter((part) => typeof part !== 'string'),
    warnings: parts.filter((part) => typeof part === 'string'),
  };
}

/** Keys that SPIRE and its installers write. */
const usualKeys = ['bundle.crt', 'bundle.spiffe'];

/**
 * The bundle's text in a ConfigMap's data: under `key`, or, when that is empty, under a usual key, or the only one. `binaryKeys`: of what it
 * holds as `binaryData`, where a bundle is not looked for.
 */
export function bundleText(
  data: Readonly<Record<string, string>>,
  key: string,
  binaryKeys: readonly string[] = [],
): { readonly text: string; readonly key: string } | { readonly problem: string } {
  const keys = Object.keys(data).sort();
  const found =
    key === '' ? (usualKeys.find((usual) => keys.includes(usual)) ?? (keys.length === 1 ? keys[0] : undefined)) : key;
  const text = found !== undefined && Object.hasOwn(data, found) ? data[found] : undefined;
  if (found !== undefined && text !== undefined) return { text, key: found };
  const held = heldText(keys, binaryKeys);
  return {
    problem: key === '' ? `none of its keys is known to hold a trust bundle; ${held}` : `it has no key ${key}; ${held}`,
  };
}

function heldText(keys: readonly string[], binaryKeys: readonly string[]): string {
  const listed = (names: readonly string[]) => names.slice(0, 10).join(', ');
  if (keys.length > 0) return `it has ${listed(keys)}`;
  if (binaryKeys.length > 0) return `it has ${listed(binaryKeys)} as binaryData; a bundle must be text under data`;
  return 'it holds nothing yet';
}
