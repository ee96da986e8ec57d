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
const tenYears = '87600h';
/** Of a common name (RFC 5280 appendix A.1). */
const longestName = 64;

/**
 * The Certificate whose Secret the operator mounts, and an authority of the install's own that signs it: so a renewal changes no `caBundle`, and the
 * API server trusts the old one and the new. The authority's key stays the same, so that its own renewal changes nothing either.
 */
export class CertManagerCertificate extends Construct {
  /** Asks cert-manager to write the CA into a webhook registration. */
  readonly injectCaAnnotations: Readonly<Record<string, string>>;

  constructor(scope: Construct, id: string, namespace: string) {
    super(scope, id);
    const selfSigned = 'rossoctl-selfsigned';
    const authority = 'rossoctl-authority';
    const certificate = install.webhookService;
    const object = (id: string, kind: 'Issuer' | 'Certificate', name: string, spec: object): void =>
      void platformObject(this, id, { apiVersion: api, kind, name, namespace, component, content: { spec } });
    object('issuer', 'Issuer', selfSigned, { selfSigned: {} });
    object('authority', 'Certificate', authority, {
      isCA: true,
      commonName: `${authority}.${namespace}`.slice(0, longestName),
      secretName: authority,
      duration: tenYears,
      issuerRef: { kind: 'Issuer', name: selfSigned },
      privateKey: { algorithm: 'ECDSA', size: 256, rotationPolicy: 'Never' },
    });
    object('authority-issuer', 'Issuer', authority, { ca: { secretName: authority } });
    object('certificate', 'Certificate', certificate, {
      secretName: install.certificateSecret,
      dnsNames: webhookHosts(namespace),
      issuerRef: { kind: 'Issuer', name: authority },
      privateKey: { algorithm: 'ECDSA', size: 256, rotationPolicy: 'Always' },
    });
    this.injectCaAnnotations = { 'cert-manager.io/inject-ca-from': `${namespace}/${certificate}` };
  }
}

/** Names under which the API server calls the webhook Service. */
function webhookHosts(namespace: string): readonly string[] {
  const service = `${install.webhookService}.${namespace}.svc`;
  return [service, `${service}.cluster.local`];
}
