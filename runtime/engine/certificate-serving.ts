/** The certificate that is served now: a live value, changed only when whoever calls us trusts the next one. */

import { certificatesIn, isValid } from './certificate-authority.ts';
import type { Publication } from './certificate-publication.ts';
import type { Clock } from './clock.ts';
import type { Health } from './health.ts';
import type { Metrics } from './metrics.ts';
import type { ServingCertificate } from './server.ts';
import type { Live, Log } from './types.ts';

export interface ServingOptions {
  readonly publication: Publication;
  /** How long an authority must have been trusted before a leaf of it is served: until every API server has noticed. Milliseconds. */
  readonly settleMs: number;
  readonly clock: Clock;
  readonly health: Health;
  readonly metrics: Metrics;
  readonly log: Log;
}

export interface Serving {
  readonly current: ServingCertificate | undefined;
  /** Serves `next` if that is best now: its authority has been trusted for long enough, or what is served is not valid or not trusted. */
  offer(next: ServingCertificate): boolean;
  /** Resolves with the first certificate. */
  readonly first: Promise<Live<ServingCertificate>>;
  /** Shown by `readyz` until the next success; undefined clears it. Says whether it is news. */
  trouble(sentence: string | undefined): boolean;
  /** Takes its checks away. */
  end(): void;
}

/** Registers the checks `certificate` (ready) and `webhook-configuration` (degraded). */
export function serving(options: ServingOptions): Serving {
  const { publication, settleMs, clock, log } = options;
  const listeners = new Set<(value: ServingCertificate) => void>();
  const { promise: first, resolve } = Promise.withResolvers<Live<ServingCertificate>>();
  let current: ServingCertificate | undefined;
  let trouble: string | undefined;

  const notAfter = (): Date | undefined => certificatesIn(current?.certificate ?? '')[0]?.validToDate;
  const isCurrentValid = (): boolean => {
    const [leaf] = certificatesIn(current?.certificate ?? '');
    return leaf !== undefined && isValid(leaf, clock.now());
  };

  function serve(next: ServingCertificate): void {
    current = next;
    log.info('serving certificate chosen', { notAfter: notAfter() });
    resolve(live(next));
    for (const listener of listeners) listener(next);
  }

  const live = (next: ServingCertificate): Live<ServingCertificate> => ({
    get current() {
      return current ?? next;
    },
    subscribe: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  });

  /** Who replaced the bundle without an overlap has taken the trust from the current one already. */
  const isSafe = (next: ServingCertificate): boolean => {
    if (current === undefined || !isCurrentValid()) return true;
    const trustedMs = publication.trustedForMs(next.certificate);
    if (trustedMs === undefined) return false;
    return trustedMs >= settleMs || publication.trustedForMs(current.certificate) === undefined;
  };

  const ends = [
    ...checks(options, () => (isCurrentValid() ? undefined : (trouble ?? 'there is no valid serving certificate yet'))),
    expiryGauge(options.metrics, () => {
      const end = notAfter();
      return end === undefined ? undefined : (end.getTime() - clock.now().getTime()) / 1000;
    }),
  ];

  return {
    get current() {
      return current;
    },
    offer: (next) => {
      if (next.certificate === current?.certificate && next.key === current.key) return true;
      if (!isSafe(next)) return false;
      serve(next);
      return true;
    },
    first,
    trouble: (sentence) => {
      const isNews = sentence !== trouble;
      trouble = sentence;
      return isNews;
    },
    end: () => {
      for (const end of ends) end();
    },
  };
}

/**
 * A fault of the configurations never fails readiness: an installer may wait for this Deployment before it creates them, and to take
 * every replica out for one that comes later would make an outage of it.
 */
function checks(
  { health, publication }: ServingOptions,
  certificate: () => string | undefined,
): readonly (() => void)[] {
  return [
    health.ready('certificate', certificate),
    health.degraded('webhook-configuration', () => publication.faults?.join('; ') || undefined),
  ];
}

function expiryGauge(metrics: Metrics, seconds: () => number | undefined): () => void {
  const gauge = metrics.gauge({
    name: 'rossoctl_webhook_certificate_expiry_seconds',
    help: 'Seconds until the serving certificate of the webhooks expires; negative afterwards.',
    collect: (it) => {
      const left = seconds();
      if (left !== undefined) it.set({}, left);
    },
  });
  return () => gauge.remove({});
}
