/** Watches the install around the operator and says what does not fit, until it does: in the log, a metric and `readyz?verbose`. */

import { schemaOf } from '../api/crd-narrowing.ts';
import { crdManifest, crdSources } from '../api/crds.ts';
import { kinds } from '../api/kinds.ts';
import type { CustomResourceDefinition, WebhookConfiguration } from '../api/kubernetes.ts';
import type { PruningSchema } from '../api/schema-pruning.ts';
import type { Cache } from '../engine/cache.ts';
import type { Health } from '../engine/health.ts';
import type { Gauge } from '../engine/metrics.ts';
import type { Kind, Log, Metrics, Watch } from '../engine/types.ts';
import { crdFault, type Fault, keptRegistration, leftoverFault } from './installation-faults.ts';
import type { Settings } from './settings.ts';

export interface InstallationOptions {
  readonly settings: Pick<Settings, 'namespace' | 'webhookService' | 'instance' | 'namespaces'>;
  readonly cache: Cache;
  readonly health: Health;
  readonly metrics: Metrics;
  readonly log: Log;
}

export interface Installation {
  /** The schema of a kind whose definition in the cluster is older than this operator; nothing while it is not, or is not known to be. */
  olderSchema(kind: Kind): PruningSchema | undefined;
}

/** One watch, and what of its objects does not fit. */
interface Concern {
  readonly watch: Watch;
  readonly isDefinition: boolean;
  faults(): readonly (Fault | undefined)[];
}

/**
 * Starts watching; ends with the cache. Nothing waits for it and no fault makes a replica unready: what works without the missing part goes on,
 * and a replica that is taken out of its Service would have every pod of an agent refused.
 */
export function watchInstallation(options: InstallationOptions): Installation {
  const { cache, health } = options;
  const gauge = faultGauge(options.metrics);
  const concerns = [...definitions(cache), ...registrations(options)];
  const known = new Map<Concern, ReadonlyMap<string, Fault>>();

  function look(concern: Concern): void {
    // Until the first list is complete, what is absent cannot be told from what has not come yet.
    if (cache.state(concern.watch).phase !== 'synced') return;
    const found = concern.faults().filter((fault) => fault !== undefined);
    const now = new Map(found.map((fault) => [fault.name, fault]));
    tell(known.get(concern) ?? new Map(), now, { gauge, log: options.log });
    known.set(concern, now);
  }

  for (const concern of concerns) {
    cache.start(concern.watch);
    cache.subscribe(concern.watch, () => look(concern));
  }
  // A kind whose definition has come, or is served from now on, can be watched: its controllers wait for nothing else.
  for (const { watch } of concerns.filter(({ isDefinition }) => isDefinition))
    cache.subscribe(watch, ({ now }) => now !== undefined && cache.revive());
  cache.onState(({ id }) => concerns.filter(({ watch }) => watch.id === id).forEach(look));
  health.degraded('installation', () => {
    const faults = [...known.values()].flatMap((map) => [...map.values()].map(({ sentence }) => sentence));
    const sentences = [...faults, ...concerns.flatMap(({ watch }) => unreadable(cache, watch))];
    return sentences.length === 0 ? undefined : sentences.join('; ');
  });
  return {
    olderSchema: ({ apiVersion, plural }) => {
      const [group = '', version = ''] = apiVersion.split('/');
      const older = [...known.values()]
        .map((map) => map.get(`${plural}.${group}`)?.older)
        .find((one) => one !== undefined);
      return older === undefined ? undefined : schemaOf(older.definition, version);
    },
  };
}

function definitions(cache: Cache): readonly Concern[] {
  return crdSources.map((source) => {
    const known = crdManifest(source);
    const { name } = known.metadata;
    const watch: Watch<CustomResourceDefinition> = {
      id: `definition-of-${source.facts.plural}`,
      kind: kinds.customResourceDefinition,
      name,
    };
    return {
      watch,
      isDefinition: true,
      faults: () => {
        const live = cache.get(watch, { name });
        return [crdFault(known, live === undefined ? undefined : { spec: live.spec ?? {} })];
      },
    };
  });
}

function registrations({ cache, settings }: InstallationOptions): readonly Concern[] {
  const { namespace, webhookService, instance, namespaces } = settings;
  const own = { service: { namespace, name: webhookService }, instance, namespaces };
  const all = [kinds.mutatingWebhookConfiguration, kinds.validatingWebhookConfiguration];
  return all.map((kind: Kind<WebhookConfiguration>) => {
    const watch: Watch<WebhookConfiguration> = { id: kind.plural, kind, keep: keptRegistration };
    return {
      watch,
      isDefinition: false,
      faults: () => cache.list(watch).map((object) => leftoverFault(kind.kind, object, own)),
    };
  });
}

type Faults = ReadonlyMap<string, Fault>;

/** What is new, what is over. */
function tell(
  before: Faults,
  now: Faults,
  { gauge, log }: { readonly gauge: Gauge<'kind' | 'name'>; readonly log: Log },
): void {
  for (const [key, { kind, name, sentence, older }] of now) {
    gauge.set({ kind, name }, 1);
    if (before.get(key)?.sentence !== sentence)
      log.error('the installation does not fit', { fault: sentence, missing: older?.missing });
  }
  for (const [key, { kind, name }] of before) {
    if (now.has(key)) continue;
    gauge.remove({ kind, name });
    log.info('the installation fits again', { object: `${kind} ${name}` });
  }
}

/** A watch that the API server refuses: with the roles of an older release. */
function unreadable(cache: Cache, watch: Watch): readonly string[] {
  const { id, phase, reason = '' } = cache.state(watch);
  if (phase !== 'unavailable') return [];
  return [`it cannot be told whether the install fits, watch ${id}: ${reason}: apply the roles of this release`];
}

function faultGauge(metrics: Metrics): Gauge<'kind' | 'name'> {
  return metrics.gauge({
    name: 'rossoctl_installation_fault',
    help: '1 for each CustomResourceDefinition that is absent or older than this operator, and each webhook registration that another install left.',
    labels: ['kind', 'name'],
  });
}
