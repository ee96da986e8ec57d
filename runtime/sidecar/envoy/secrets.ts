/** The pod's identity as Envoy takes it by SDS. */

import { extension, type JsonObject, type Named, secretNames } from './names.ts';

/** An X.509-SVID with the bundles that came with it. */
export interface TlsIdentity {
  /** PEM, leaf first. */
  readonly chain: string;
  /** PEM, PKCS #8. */
  readonly key: string;
  /** PEM of the authorities by trust domain (`example.org`): ours, and those it is federated with. */
  readonly bundles: ReadonlyMap<string, string>;
}

const validator = 'envoy.extensions.transport_sockets.tls.v3.SPIFFECertValidatorConfig';

/** What SDS serves: none without an identity, and then nothing is sent at all, so that listeners wait for it. */
export function secrets(identity: TlsIdentity | undefined): readonly Named[] {
  if (identity === undefined) return [];
  return [
    { name: secretNames.identity, tlsCertificate: certificateOf(identity) },
    { name: secretNames.trust, validationContext: trustOf(identity) },
  ];
}

/** A `TlsCertificate`. */
export function certificateOf({ chain, key }: TlsIdentity): JsonObject {
  return { certificateChain: { inlineString: chain }, privateKey: { inlineString: key } };
}

/**
 * A `CertificateValidationContext`: a peer's certificate must have one SPIFFE ID, of a domain named here, and be issued by that very domain's
 * authorities.
 */
export function trustOf(identity: TlsIdentity): JsonObject {
  const bundles = [...identity.bundles].sort(([a], [b]) => (a < b ? -1 : 1));
  const trustDomains = bundles.map(([name, pem]) => ({ name, trustBundle: { inlineString: pem } }));
  return { customValidatorConfig: extension('envoy.tls.cert_validator.spiffe', validator, { trustDomains }) };
}
