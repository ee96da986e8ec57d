/** SPIFFE IDs: the strict grammar (SPIFFE-ID section 2), and the ID that a leaf certificate carries. */

import type { Certificate } from './certificate.ts';
import { plain, type Refusal, refusal } from './refusal.ts';

export interface SpiffeId {
  /** `spiffe://example.org/ns/team1/sa/weather-agent`. */
  readonly text: string;
  readonly trustDomain: string;
}

const mostBytes = 2048;
const grammar = /^spiffe:\/\/([a-z0-9._-]{1,255})((?:\/[A-Za-z0-9._-]+)+)$/;

/** Whether a SPIFFE ID can have this trust domain. */
export function isTrustDomain(text: string): boolean {
  return /^[a-z0-9._-]{1,255}$/.test(text);
}

/** The SPIFFE ID of a workload that `text` is: with a path, in lower case where the standard says so. `undefined` for anything else. */
export function parseSpiffeId(text: string): SpiffeId | undefined {
  if (text.length > mostBytes) return undefined;
  const [, trustDomain, path] = grammar.exec(text) ?? [];
  if (trustDomain === undefined || path === undefined) return undefined;
  const hasDots = path.split('/').some((segment) => segment === '.' || segment === '..');
  return hasDots ? undefined : { text, trustDomain };
}

/** The ID of an X.509-SVID: its only URI, of whatever scheme (X509-SVID section 2). */
export function spiffeIdOf({ names: { uris } }: Certificate): SpiffeId | Refusal {
  const [uri] = uris;
  if (uri === undefined || uris.length !== 1) {
    return refusal(
      'spiffe-id-invalid',
      `the leaf certificate has ${uris.length} URIs as names; an X.509-SVID has exactly one`,
    );
  }
  const shown = plain(uri, 200);
  return (
    parseSpiffeId(uri) ??
    refusal('spiffe-id-invalid', `the URI of the leaf certificate is no SPIFFE ID of a workload: ${shown}`)
  );
}
