/** Mutual TLS with other pods: our SVID, and a peer's that some trusted domain vouches for. */

import { type Intent, limitsOf, seconds } from './intent.ts';
import { extension, type JsonObject, secretNames } from './names.ts';
import { certificateOf, type TlsIdentity, trustOf } from './secrets.ts';

const contexts = 'envoy.extensions.transport_sockets.tls.v3';
const socket = 'envoy.transport_sockets.tls';
const tlsParams: JsonObject = { tlsMinimumProtocolVersion: 'TLSv1_2', tlsMaximumProtocolVersion: 'TLSv1_3' };

/** The transport socket of what arrives. Certificates come by SDS: a new one is used from the next handshake on, and open connections stay. */
export function inboundTls(intent: Intent): JsonObject {
  return extension(socket, `${contexts}.DownstreamTlsContext`, {
    requireClientCertificate: true,
    // A resumed session would skip the check of a certificate that may have ended, or of a domain that is no longer trusted.
    disableStatelessSessionResumption: true,
    disableStatefulSessionResumption: true,
    commonTlsContext: {
      tlsParams,
      // The server's order counts: HTTP/2 would go on to the application as such, so only those speak it that speak nothing else (gRPC).
      alpnProtocols: ['http/1.1', 'h2'],
      tlsCertificateSdsSecretConfigs: [bySds(secretNames.identity, intent)],
      validationContextSdsSecretConfig: bySds(secretNames.trust, intent),
    },
  });
}

/**
 * The transport socket of what leaves. It holds the identity itself instead of asking for it by SDS: with another identity it is another cluster to
 * Envoy, so no request goes on a connection that was made with the one before, and requests under way end on theirs. The protocol that is offered
 * (ALPN) is the request's own.
 */
export function outboundTls(identity: TlsIdentity): JsonObject {
  return extension(socket, `${contexts}.UpstreamTlsContext`, {
    // No session is kept: see above.
    maxSessionKeys: 0,
    commonTlsContext: {
      tlsParams,
      tlsCertificates: [certificateOf(identity)],
      validationContext: trustOf(identity),
    },
  });
}

function bySds(name: string, intent: Intent): JsonObject {
  const initialFetchTimeout = seconds(limitsOf(intent).identitySeconds);
  return { name, sdsConfig: { resourceApiVersion: 'V3', initialFetchTimeout, ads: {} } };
}
