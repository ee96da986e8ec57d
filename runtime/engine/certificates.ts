/** Keeps the webhooks' own authority and serving certificate: made, shared between replicas, published, renewed, and served in a safe order. */

import type { Client } from './client.ts';
import { type Publication, publication } from './certificate-publication.ts';
import { type RenewalPolicy, defaultLifetimes, leafDue, withAuthority, withLeaf } from './certificate-renewal.ts';
import type { Holding, SecretObject } from './certificate-secret.ts';
import { type Serving, serving } from './certificate-serving.ts';
import { type CertificateStore, type Stored, certificateStore } from './certificate-store.ts';
import { type Clock, systemClock } from './clock.ts';
import { sentenceOf } from './errors.ts';
import type { Health } from './health.ts';
import { lookRepeatedly } from './look.ts';
import type { Metrics } from './metrics.ts';
import type { ServingCertificate } from './server.ts';
import type { Kind, Live, LiveReader, Log, ObjectKey } from './types.ts';
import type { ConfigurationRef, Endpoint } from './webhook-configuration.ts';

export interface CertificateOptions {
  readonly client: Pick<Client, 'create' | 'replace' | 'jsonPatch'>;
  readonly reader: LiveReader;
  readonly secret: { readonly kind: Kind<SecretObject>; readonly key: ObjectKey };
  /** On the Secret: how our own is told from somebody else's. */
  readonly labels: Readonly<Record<string, string>>;
  readonly fieldManager: string;
  readonly dnsNames: readonly string[];
  /** Default: none. */
  readonly ipAddresses?: readonly string[];
  readonly configurations: readonly ConfigurationRef[];
  readonly endpoint: Endpoint;
  readonly health: Health;
  readonly metrics: Metrics;
  readonly log: Log;
  readonly clock?: Clock;
  /** Default: 365 and 90 days. `leafMs` is at most a third of `authorityMs`. */
  readonly lifetimes?: { readonly authorityMs: number; readonly leafMs: number };
  /** Between the publication of a new authority and the first leaf of it, in milliseconds. Default 10,000. */
  readonly settleMs?: number;
  /** Between two looks that nothing asked for, in milliseconds. Default 30,000. */
  readonly lookEveryMs?: number;
}

export interface CertificateKeeper {
  /** Resolves when there is a certificate to serve. */
  readonly certificate: Promise<Live<ServingCertificate>>;
  /** The Secret or a configuration may have changed: looks at once. To be called by whoever watches them. */
  look(): void;
  /** Ends the looking, and takes the health checks away. */
  stop(): void;
}

/**
 * Starts keeping. Every replica may: writes carry the version they were based on, and who loses takes what the other wrote.
 * The order that lets no admission fail: a new authority is stored, then published in every `caBundle` beside the old one, then, once
 * API servers have noticed, a leaf of it is stored and served. The old authority stays published until it expires, and with it any
 * replica that still serves a leaf of it.
 */
export function keepCertificates(options: CertificateOptions): CertificateKeeper {
  const parts = partsOf(options);
  let memory = '';
  const looking = lookRepeatedly(parts, options.lookEveryMs ?? 30_000, async () => {
    const holding = await current(parts, memory);
    memory = holding.bundle;
    parts.serving.trouble(undefined);
    return isSettled(parts, holding) ? 'done' : 'soon';
  });
  return {
    certificate: parts.serving.first,
    look: looking.wake,
    stop: () => {
      looking.stop();
      parts.serving.end();
    },
  };
}

interface Parts {
  readonly policy: RenewalPolicy;
  readonly settleMs: number;
  readonly clock: Clock;
  readonly log: Log;
  readonly store: CertificateStore;
  readonly publication: Publication;
  readonly serving: Serving;
  readonly failed: (error: unknown) => void;
}

/** Of a common name, RFC 5280 appendix A. */
const longestName = 64;

function partsOf(options: CertificateOptions): Parts {
  const { clock = systemClock, settleMs = 10_000, lifetimes = defaultLifetimes, log, secret } = options;
  if (lifetimes.leafMs * 3 > lifetimes.authorityMs)
    throw new RangeError('a leaf may live a third of its authority at most');
  const commonName = `${secret.key.namespace}/${secret.key.name}`.slice(0, longestName);
  const { client, fieldManager } = options;
  const published = publication({ ...options, clock, patch: { client, fieldManager, commonName } });
  const served = serving({ ...options, clock, settleMs, publication: published });
  return {
    policy: { commonName, dnsNames: options.dnsNames, ipAddresses: options.ipAddresses ?? [], ...lifetimes },
    settleMs,
    clock,
    log,
    store: certificateStore({ ...secret, ...options }),
    publication: published,
    serving: served,
    failed: (error) => {
      if (served.trouble(sentenceOf(error))) log.error('certificates cannot be kept', { error });
    },
  };
}

/** One look: the stored holding, made good and renewed as far as is safe now, published and served. */
async function current(parts: Parts, memory: string): Promise<Holding> {
  const { policy, clock, store, publication, serving } = parts;
  let stored = await store.read();
  stored = await improved(parts, stored, await complete(parts, remembering(stored.holding, memory)));
  if (serving.current === undefined && stored.holding.leaf !== undefined) serving.offer(stored.holding.leaf);
  await publication.look(stored.holding.bundle);
  if (leafDue(stored.holding, policy, clock.now()) !== undefined && isAuthoritySettled(parts, stored.holding)) {
    stored = await improved(parts, stored, await withLeaf(stored.holding, policy, clock.now()));
  }
  if (stored.holding.leaf !== undefined) serving.offer(stored.holding.leaf);
  return stored.holding;
}

/** With an authority that is not due, and with some leaf. */
async function complete({ policy, clock }: Parts, holding: Holding): Promise<Holding> {
  const signing = await withAuthority(holding, policy, clock.now());
  return signing.leaf === undefined ? withLeaf(signing, policy, clock.now()) : signing;
}

/** A Secret that was deleted or damaged takes no trust from a replica that still serves a leaf of a former authority. */
function remembering(holding: Holding, memory: string): Holding {
  return { ...holding, bundle: `${holding.bundle}\n${memory}` };
}

/** `wanted` written, if it differs; or what another replica wrote in the meantime. */
async function improved({ store, log }: Parts, stored: Stored, wanted: Holding): Promise<Stored> {
  if (isEqual(stored.holding, wanted)) return stored;
  const written = await store.write(stored, wanted);
  if (written === undefined) return store.read();
  log.info('certificate Secret written', {
    hasNewAuthority: stored.holding.authority?.certificate !== wanted.authority?.certificate,
    hasNewLeaf: stored.holding.leaf?.certificate !== wanted.leaf?.certificate,
  });
  return written;
}

function isEqual(one: Holding, other: Holding): boolean {
  return (
    one.bundle === other.bundle &&
    one.authority?.key === other.authority?.key &&
    one.authority?.certificate === other.authority?.certificate &&
    one.leaf?.certificate === other.leaf?.certificate
  );
}

function isAuthoritySettled({ publication, settleMs }: Parts, { authority }: Holding): boolean {
  return authority !== undefined && (publication.trustedForMs(authority.certificate) ?? -1) >= settleMs;
}

/** Nothing is under way: the stored leaf is served, and is not due. */
function isSettled({ serving, policy, clock, publication }: Parts, holding: Holding): boolean {
  const isServed = serving.current?.certificate === holding.leaf?.certificate;
  return isServed && leafDue(holding, policy, clock.now()) === undefined && publication.faults?.length === 0;
}
