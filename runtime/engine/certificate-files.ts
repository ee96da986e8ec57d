/** Serves a certificate that somebody else (cert-manager) makes and mounts as files, and changes to a new one when it is trusted. */

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { faultOf } from './certificate-authority.ts';
import { publication } from './certificate-publication.ts';
import { serving } from './certificate-serving.ts';
import type { CertificateKeeper } from './certificates.ts';
import { type Clock, systemClock } from './clock.ts';
import { EngineError, sentenceOf } from './errors.ts';
import type { Health } from './health.ts';
import { lookRepeatedly } from './look.ts';
import type { Metrics } from './metrics.ts';
import type { ServingCertificate } from './server.ts';
import type { LiveReader, Log } from './types.ts';
import { watchDirectory } from './watch-directory.ts';
import type { ConfigurationRef, Endpoint } from './webhook-configuration.ts';

export interface CertificateFilesOptions {
  /** Holds `tls.crt` and `tls.key`. */
  readonly directory: string;
  readonly reader: LiveReader;
  /** Only looked at: their `caBundle` is filled by whoever makes the files. */
  readonly configurations: readonly ConfigurationRef[];
  readonly endpoint: Endpoint;
  readonly health: Health;
  readonly metrics: Metrics;
  readonly log: Log;
  readonly clock?: Clock;
  /** How long a new authority must be in every `caBundle` before its certificate is served, in milliseconds. Default 10,000. */
  readonly settleMs?: number;
  /** Milliseconds. Default 60,000; a change of the files or of the configurations (`look`) is seen at once. */
  readonly lookEveryMs?: number;
}

/**
 * Starts following the files. Files and `caBundle` may change in either order: a certificate that is not trusted yet waits while the one
 * before it is still valid. Nothing is written to the cluster.
 */
export function followCertificateFiles(options: CertificateFilesOptions): CertificateKeeper {
  const { directory, log, clock = systemClock, settleMs = 10_000, lookEveryMs = 60_000 } = options;
  const published = publication({ ...options, clock });
  const served = serving({ ...options, clock, settleMs, publication: published });
  const failed = (error: unknown): void => {
    if (served.trouble(sentenceOf(error))) log.error('certificate files cannot be served', { error });
  };
  const looking = lookRepeatedly({ clock, failed }, lookEveryMs, async () => {
    const [next, looked] = await Promise.allSettled([read(directory), published.look('')]);
    if (next.status === 'rejected') throw next.reason;
    const isServed = served.offer(next.value);
    if (looked.status === 'rejected') throw looked.reason;
    if (isServed) served.trouble(undefined);
    else if (served.trouble('the new certificate is not trusted by every caBundle yet'))
      log.warn('certificate waits to be trusted');
    return isServed && published.faults?.length === 0 ? 'done' : 'soon';
  });
  const unwatch = watchDirectory(directory, looking.wake, { pollMs: lookEveryMs });
  return {
    certificate: served.first,
    look: looking.wake,
    stop: () => {
      unwatch();
      looking.stop();
      served.end();
    },
  };
}

/** Both files of one version; throws when they do not belong together, which the next look may see mended. */
async function read(directory: string): Promise<ServingCertificate> {
  const [certificate, key] = await Promise.all(
    ['tls.crt', 'tls.key'].map((name) => readFile(join(directory, name), 'utf8')),
  );
  const pair = { certificate: certificate ?? '', key: key ?? '' };
  const fault = faultOf(pair);
  if (fault !== undefined) throw new EngineError('CERTIFICATE_FILES_INVALID', `${directory}: ${fault}`);
  return pair;
}
