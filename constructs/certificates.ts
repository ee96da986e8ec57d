/** The webhook certificate when cert-manager makes it: issuer, certificate, and how the webhook registrations get their CA. */

import { Construct } from 'constructs';
import { install } from '../runtime/api/names.ts';
import { platformObject } from './platform-objects.ts';

/**
 * Who makes and rotates the webhooks' serving certificate: the operator itself (no other component needed), or cert-manager,
 * which must then be in the cluster.
 */
export type CertificateSource = 'self-managed' | 'cert-manager';

const component = 'certificates';
const api = 'cert-manager.io/v1';

/** A self-signed Issuer and the Certificate whose Secret the operator mounts. */
export class CertManagerCertificate extends Construct {
  /** Asks cert-manager to write the CA into a webhook registration. */
  readonly injectCaAnnotations: Readonly<Record<string, string>>;

  constructor(scope: Construct, id: string, namespace: string) {
    super(scope, id);
    const issuer = 'rossoctl-selfsigned';
    const certificate = install.webhookService;
    platformObject(this, 'issuer', {
      apiVersion: api,
      kind: 'Issuer',
      name: issuer,
      namespace,
      component,
      content: { spec: { selfSigned: {} } },
    });
    platformObject(this, 'certificate', {
      apiVersion: api,
      kind: 'Certificate',
      name: certificate,
      namespace,
      component,
      content: {
        spec: {
          secretName: install.certificateSecret,
          dnsNames: webhookHosts(namespace),
          issuerRef: { kind: 'Issuer', name: issuer },
          privateKey: { algorithm: 'ECDSA', size: 256, rotationPolicy: 'Always' },
        },
      },
    });
    this.injectCaAnnotations = { 'cert-manager.io/inject-ca-from': `${namespace}/${certificate}` };
  }
}

/** Names under which the API server calls the webhook Service. */
function webhookHosts(namespace: string): readonly string[] {
  const service = `${install.webhookService}.${namespace}.svc`;
  return [service, `${service}.cluster.local`];
}
