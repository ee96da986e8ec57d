/** Chooses who keeps the serving certificate, and wakes the keeper when the objects it depends on change. */

import { kinds } from '../api/kinds.ts';
import { fieldManagers, labels, managedBy, webhookConfigurationsOf } from '../api/names.ts';
import type { Cache } from '../engine/cache.ts';
import { followCertificateFiles } from '../engine/certificate-files.ts';
import { type CertificateKeeper, keepCertificates } from '../engine/certificates.ts';
import { type Client, liveReader } from '../engine/client.ts';
import type { Health } from '../engine/health.ts';
import type { Metrics } from '../engine/metrics.ts';
import type { Log, Watch } from '../engine/types.ts';
import type { Endpoint } from '../engine/webhook-configuration.ts';
import type { Settings } from './settings.ts';

function configurationsOf({ instance }: Settings) {
  const { injector, validator } = webhookConfigurationsOf(instance);
  return [
    { kind: kinds.mutatingWebhookConfiguration, name: injector },
    { kind: kinds.validatingWebhookConfiguration, name: validator },
  ] as const;
}

export interface Keeping {
  readonly settings: Settings;
  readonly client: Client;
  readonly cache: Cache;
  readonly health: Health;
  readonly metrics: Metrics;
  readonly log: Log;
}

function endpointOf({ webhookHost, webhookPort, namespace, webhookService }: Settings): Endpoint {
  return webhookHost === ''
    ? { service: { namespace, name: webhookService } }
    : { url: `https://${webhookHost.includes(':') ? `[${webhookHost}]` : webhookHost}:${webhookPort}` };
}

/** Names on the certificate: the Service's, as the API server calls it, or the host given. */
function subjectOf({ webhookHost, namespace, webhookService }: Settings) {
  if (webhookHost === '')
    return { dnsNames: [`${webhookService}.${namespace}.svc`, `${webhookService}.${namespace}.svc.cluster.local`] };
  return /^[0-9.]+$|:/.test(webhookHost)
    ? { dnsNames: ['localhost'], ipAddresses: [webhookHost] }
    : { dnsNames: [webhookHost] };
}

function watchesOf(settings: Settings): readonly Watch[] {
  const { namespace, certificateSecret, certificates } = settings;
  const own: Watch = {
    id: 'certificate-secret',
    kind: kinds.secret,
    namespace,
    name: certificateSecret,
    metadataOnly: true,
  };
  return [
    ...configurationsOf(settings).map(({ kind, name }): Watch => ({ id: name, kind, name, metadataOnly: true })),
    ...(certificates === 'self-managed' ? [own] : []),
  ];
}

/** Starts keeping; the keeper's certificate resolves when there is one to serve. */
export function keepCertificate({ settings, client, cache, health, metrics, log }: Keeping): CertificateKeeper {
  const reader = liveReader(client);
  const configurations = configurationsOf(settings);
  const shared = { reader, configurations, endpoint: endpointOf(settings), health, metrics, log };
  const keeper =
    settings.certificates === 'files'
      ? followCertificateFiles({ ...shared, directory: settings.certificateDir })
      : keepCertificates({
          ...shared,
          ...subjectOf(settings),
          client,
          secret: { kind: kinds.secret, key: { namespace: settings.namespace, name: settings.certificateSecret } },
          labels: { [labels.managedBy]: managedBy },
          fieldManager: fieldManagers.certificates,
        });
  for (const watch of watchesOf(settings)) {
    cache.start(watch);
    cache.subscribe(watch, () => keeper.look());
  }
  return keeper;
}
