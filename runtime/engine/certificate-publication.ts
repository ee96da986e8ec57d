/** Sees to it that the webhook configurations trust our authorities, and knows since when they do. */

import type { CallOptions, Client } from './client.ts';
import type { X509Certificate } from 'node:crypto';
import { certificatesIn, isIssuedBy } from './certificate-authority.ts';
import { bundleOf } from './certificate-bundle.ts';
import type { Clock } from './clock.ts';
import { ApiError } from './errors.ts';
import type { Gauge, Metrics } from './metrics.ts';
import type { RequestSpec } from './transport.ts';
import type { LiveReader, Log } from './types.ts';
import {
  type ConfigurationRef,
  type Endpoint,
  type WebhookConfigurationObject,
  bundleOperations,
  bundlesIn,
  configurationFault,
} from './webhook-configuration.ts';

export interface PublicationOptions {
  readonly configurations: readonly ConfigurationRef[];
  readonly endpoint: Endpoint;
  readonly reader: LiveReader;
  /** Absent: `caBundle` is somebody else's, and only looked at. */
  readonly patch?: {
    readonly client: Pick<Client, 'jsonPatch'>;
    readonly fieldManager: string;
    /** Authorities of this common name are kept in the bundle as long as they are valid. */
    readonly commonName: string;
  };
  readonly clock: Clock;
  readonly metrics: Metrics;
  readonly log: Log;
}

export interface Publication {
  /** Reads the configurations; where `patch` is given, corrects those that lack the bundle. */
  look(bundle: string): Promise<void>;
  /** How long, in milliseconds, every configuration has been seen to trust an authority that signed this chain (PEM), or a certificate in it; undefined: not now. */
  trustedForMs(chain: string): number | undefined;
  /** Faults at the last look, a sentence each; undefined before the first. */
  readonly faults: readonly string[] | undefined;
}

interface Trusted {
  readonly authority: X509Certificate;
  readonly at: number;
}

/** Starts with nothing known. */
export function publication(options: PublicationOptions): Publication {
  const { configurations, endpoint, reader, clock, log } = options;
  const gauge = faultGauge(options.metrics);
  const since = new Map<string, Trusted>();
  let faults: readonly string[] | undefined;

  async function look(bundle: string): Promise<void> {
    const found = await Promise.all(configurations.map((ref) => seen(ref, bundle)));
    const now = configurations.flatMap((ref, at) => {
      const fault = configurationFault(ref, found[at], endpoint);
      gauge.set({ kind: ref.kind.kind, name: ref.name }, fault === undefined ? 0 : 1);
      return fault === undefined ? [] : [fault];
    });
    remember(found.filter((one) => one !== undefined));
    if (now.join() !== (faults ?? []).join()) report(now);
    faults = now;
  }

  async function seen(ref: ConfigurationRef, bundle: string): Promise<WebhookConfigurationObject | undefined> {
    const configuration = await reader.get(ref.kind, { name: ref.name });
    if (configuration === undefined || options.patch === undefined) return configuration;
    return (await corrected(ref, configuration, bundle)) ?? configuration;
  }

  /** The configuration with our bundle; undefined when somebody else changed it meanwhile, which the next look sees. */
  async function corrected(ref: ConfigurationRef, configuration: WebhookConfigurationObject, bundle: string) {
    const { patch } = options;
    if (patch === undefined) return undefined;
    const rules = { commonName: patch.commonName, now: clock.now() };
    const operations = bundleOperations(configuration, bundleOf([bundle, ...bundlesIn(configuration)], rules));
    if (operations.length === 0) return configuration;
    const as: CallOptions & Pick<RequestSpec, 'query'> = { query: { fieldManager: patch.fieldManager } };
    try {
      await patch.client.jsonPatch({ kind: ref.kind, name: ref.name }, operations, as);
    } catch (error) {
      if (error instanceof ApiError && [404, 409, 422].includes(error.status)) return undefined;
      throw error;
    }
    log.info('caBundle published', { kind: ref.kind.kind, configurationName: ref.name });
    return reader.get(ref.kind, { name: ref.name });
  }

  function remember(found: readonly WebhookConfigurationObject[]): void {
    const trusted = found
      .flatMap(bundlesIn)
      .map((text) => new Map(certificatesIn(text).map((authority) => [authority.fingerprint256, authority])));
    const everywhere = new Map([...(trusted[0] ?? [])].filter(([one]) => trusted.every((map) => map.has(one))));
    for (const one of since.keys()) if (!everywhere.has(one)) since.delete(one);
    for (const [one, authority] of everywhere) {
      if (!since.has(one)) since.set(one, { authority, at: clock.monotonicMs() });
    }
  }

  function report(now: readonly string[]): void {
    if (now.length > 0) log.error('webhook configuration is at fault', { faults: now });
    else log.info('webhook configurations are sound again');
  }

  return {
    look,
    trustedForMs: (chain) => {
      const links = certificatesIn(chain);
      const signers = [...since.values()].filter(({ authority }) =>
        links.some((link) => isIssuedBy(link, authority) || link.fingerprint256 === authority.fingerprint256),
      );
      return signers.length === 0 ? undefined : clock.monotonicMs() - Math.min(...signers.map(({ at }) => at));
    },
    get faults() {
      return faults;
    },
  };
}

function faultGauge(metrics: Metrics): Gauge<'kind' | 'name'> {
  return metrics.gauge({
    name: 'rossoctl_webhook_configuration_fault',
    help: '1 when the webhook configuration is absent, trusts nobody or calls somebody else.',
    labels: ['kind', 'name'],
  });
}
