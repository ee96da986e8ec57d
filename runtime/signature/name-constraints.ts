/** Name constraints of authorities (RFC 5280 section 4.2.1.10): those on URIs are enforced, what cannot be enforced is refused. */

import type { Certificate } from './certificate.ts';
import { primitive } from './der.ts';
import type { NameConstraints } from './extensions.ts';

/** DNS names and IP addresses: a constraint on them says nothing about a certificate that has none. */
const separable: ReadonlySet<number> = new Set([primitive(2), primitive(7)]);

/** Why a certificate may not stand below an authority with these constraints; undefined: it may. */
export function constraintViolation(constraints: NameConstraints, { names }: Certificate): string | undefined {
  const { permittedUris, excludedUris, otherKinds } = constraints;
  const unenforced = [...otherKinds].find((kind) => !separable.has(kind) || names.kinds.has(kind));
  if (unenforced !== undefined) return 'its issuer constrains names of a kind that is not understood';
  if (permittedUris === undefined && excludedUris.length === 0) return undefined;
  for (const uri of names.uris) {
    const host = hostOf(uri);
    if (host === undefined) return 'its issuer constrains the hosts of URIs, and it has one without a host';
    if (permittedUris !== undefined && !permittedUris.some((base) => base !== '' && isWithin(host, base))) {
      return `its issuer permits no URIs of ${host}`;
    }
    if (excludedUris.some((base) => base === '' || isWithin(host, base))) return `its issuer excludes URIs of ${host}`;
  }
  return undefined;
}

/** With a leading period: any host below; without: this very host. */
function isWithin(host: string, base: string): boolean {
  const wanted = base.toLowerCase();
  return wanted.startsWith('.') ? host.endsWith(wanted) && host.length > wanted.length : host === wanted;
}

function hostOf(uri: string): string | undefined {
  return /^[a-z][a-z0-9+.-]*:\/\/(?:[^@/?#]*@)?([^:/?#]+)/i.exec(uri)?.[1]?.toLowerCase();
}
