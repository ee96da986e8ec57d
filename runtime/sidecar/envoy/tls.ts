/** Mutual TLS of what arrives: our SVID, and a peer's that some trusted domain vouches for. */

import { type Intent, limitsOf, seconds } from './intent.ts';
import { extension, type JsonObject, secretNames } from './names.ts';

const context = 'envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext';

/** The transport socket. Certificates come by SDS: a new one is used from the next handshake on, and open connections stay. */
export function mutualTls(intent: Intent): JsonObject {
  return extension('envoy.transport_sockets.tls', context, {
    requireClientCertificate: true,
    // A resumed session would skip the check of a certificate that may have ended, or of a domain that is no longer trusted.
    disableStatelessSessionResumption: true,
    disableStatefulSessionResumption: true,
    commonTlsContext: {
      tlsParams: { tlsMinimumProtocolVersion: 'TLSv1_2', tlsMaximumProtocolVersion: 'TLSv1_3' },
      // The server's order counts: HTTP/2 would go on to the application as such, so only those speak it that speak nothing else (gRPC).
      alpnProtocols: ['http/1.1', 'h2'],
      tlsCertificateSdsSecretConfigs: [bySds(secretNames.identity, intent)],
      validationContextSdsSecretConfig: bySds(secretNames.trust, intent),
    },
  });
}

function bySds(name: string, intent: Intent): JsonObject {
  const initialFetchTimeout = seconds(limitsOf(intent).identitySeconds);
  return { name, sdsConfig: { resourceApiVersion: 'V3', initialFetchTimeout, ads: {} } };
}
