/** Answers of the Workload API as bytes: made of certificates that tests issue, whole by default and broken where a test says so. */

import type { JsonValue } from '@bufbuild/protobuf';
import { bytesOf } from '../../../../runtime/sidecar/wire/registry.ts';
import { caExtensions, type Issued, issue, keyPem, makeKeys, svidExtensions, type Wish } from '../../signature/pki.ts';

export const id = 'spiffe://example.org/ns/team1/sa/weather-sa';

export const root = issue({ subject: 'O=SPIRE, CN=root', extensions: caExtensions() });
export const intermediate = issue({ subject: 'O=SPIRE, CN=int', issuer: root, extensions: caExtensions() });
export const foreignRoot = issue({ subject: 'O=Other, CN=root', extensions: caExtensions() });

/** A leaf below the intermediate. */
export function leafOf(wish: Partial<Wish> = {}): Issued {
  return issue({ subject: 'O=SPIRE', issuer: intermediate, extensions: svidExtensions(id), ...wish });
}

export const leaf = leafOf();

/** DER, one after the other. */
export const ders = (...all: readonly Issued[]): Buffer => Buffer.concat(all.map(({ der }) => der));
export const pkcs8 = ({ keys }: Pick<Issued, 'keys'>): Buffer =>
  keys.privateKey.export({ type: 'pkcs8', format: 'der' });
export { keyPem, makeKeys };

export interface SvidFields {
  readonly spiffeId: string;
  readonly x509Svid: Buffer;
  readonly x509SvidKey: Buffer;
  readonly bundle: Buffer;
}

/** An SVID as the agent sends it. */
export function svidFields(of: Issued = leaf, changed: Partial<SvidFields> = {}): SvidFields {
  return { spiffeId: id, x509Svid: ders(of, intermediate), x509SvidKey: pkcs8(of), bundle: root.der, ...changed };
}

/** An `X509SVIDResponse`. */
export function svidResponse(
  svids: readonly SvidFields[] = [svidFields()],
  federated: Readonly<Record<string, Buffer>> = {},
): Uint8Array {
  return bytesOf('X509SVIDResponse', {
    svids: svids.map(({ spiffeId, x509Svid, x509SvidKey, bundle }) => ({
      spiffeId,
      x509Svid: base64(x509Svid),
      x509SvidKey: base64(x509SvidKey),
      bundle: base64(bundle),
    })),
    federatedBundles: inBase64(federated),
  });
}

/** An `X509BundlesResponse` or a `JWTBundlesResponse`. */
export function bundlesResponse(name: 'X509' | 'JWT', bundles: Readonly<Record<string, Buffer>>): Uint8Array {
  return bytesOf(`${name}BundlesResponse`, { bundles: inBase64(bundles) });
}

/** A `JWTSVIDResponse` with an unsigned token of these claims. */
export function jwtResponse(claims: JsonValue, spiffeId = id): Uint8Array {
  return bytesOf('JWTSVIDResponse', { svids: [{ spiffeId, svid: tokenOf(claims) }] });
}

export function tokenOf(claims: JsonValue): string {
  const part = (value: JsonValue) => Buffer.from(JSON.stringify(value)).toString('base64url');
  return `${part({ alg: 'ES256', kid: 'k' })}.${part(claims)}.c2lnbmF0dXJl`;
}

const base64 = (bytes: Buffer): string => bytes.toString('base64');
const inBase64 = (all: Readonly<Record<string, Buffer>>) =>
  Object.fromEntries(Object.entries(all).map(([name, bytes]) => [name, base64(bytes)]));
