/** The ConfigMap with the trust bundle: watched by its name alone, parsed once a content, and never replaced by what it held before. */

import { kinds } from '../api/kinds.ts';
import type { ConfigMap } from '../api/kubernetes.ts';
import type { Reader, Watch } from '../engine/types.ts';
import { sentence } from './sentence.ts';
import { bundleText, parseTrustBundle, type TrustBundle } from '../signature/trust-bundle.ts';

/** Where the bundle is. */
export interface BundlePlace {
  readonly namespace: string;
  readonly name: string;
  /** Empty: `bundle.crt`, else `bundle.spiffe`, else the only key. */
  readonly key: string;
}

export type Bundle =
  | { readonly kind: 'usable'; readonly bundle: TrustBundle }
  /** A sentence: what was looked for, and what is wrong with it. */
  | { readonly kind: 'unavailable'; readonly message: string };

/** Whatever labels it has, in whatever namespace, also one that does not exist yet (SG-09). */
export function trustBundleWatch({ namespace, name }: BundlePlace): Watch<ConfigMap> {
  return Object.freeze({ id: 'trust-bundle', kind: kinds.configMap, namespace, name, keep });
}

export interface BundleReader {
  read(reader: Reader): Bundle;
  /** What was read last; undefined: nothing usable. */
  look(): { readonly ageSeconds: number; readonly warnings: number } | undefined;
}

/** Parses each content once. What cannot be read now is not known, whatever it was before. */
export function createBundleReader(place: BundlePlace, watch: Watch<ConfigMap>, now: () => Date): BundleReader {
  const parsed = new WeakMap<ConfigMap, Bundle>();
  const where = `ConfigMap ${place.namespace}/${place.name}`;
  let last: { readonly bundle: TrustBundle; readonly since: Date } | undefined;
  const find = (reader: Reader): Bundle => {
    const found = lookUp(reader, watch, place);
    if (found === undefined) return unavailable(`${where} does not exist`);
    if ('unreadable' in found) return unavailable(`${where} cannot be read: ${found.unreadable}`);
    const bundle = parsed.get(found) ?? bundleOf(found, place.key, where);
    parsed.set(found, bundle);
    return bundle;
  };
  return {
    read: (reader) => {
      const found = find(reader);
      if (found.kind === 'unavailable') last = undefined;
      else if (found.bundle.hash !== last?.bundle.hash) last = { bundle: found.bundle, since: now() };
      return found;
    },
    look: () =>
      last && {
        ageSeconds: Math.max(0, now().getTime() - last.since.getTime()) / 1000,
        warnings: last.bundle.warnings.length,
      },
  };
}

const unavailable = (why: string): Bundle => ({ kind: 'unavailable', message: sentence(why) });

/** The API server may not let us read it: that is a state, and no reason to stand still (RB-02). */
function lookUp(
  reader: Reader,
  watch: Watch<ConfigMap>,
  { namespace, name }: BundlePlace,
): ConfigMap | undefined | { readonly unreadable: string } {
  try {
    return reader.get(watch, { namespace, name });
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'NOT_SYNCED')) throw error;
    return { unreadable: error.message };
  }
}

function bundleOf({ data = {}, binaryData = {} }: ConfigMap, key: string, where: string): Bundle {
  const found = bundleText(data, key, Object.keys(binaryData));
  if ('problem' in found) return unavailable(`${where}: ${found.problem}`);
  const bundle = parseTrustBundle(found.text);
  if (bundle.anchors.length > 0) return { kind: 'usable', bundle };
  const why = bundle.warnings[0] ?? 'it is empty';
  return unavailable(`${where}, key ${found.key}, holds no certificate to trust: ${why}`);
}

/** Of `binaryData` the names alone: that a bundle is there says why it is not found. */
function keep({ apiVersion, kind, metadata, data, binaryData }: ConfigMap): ConfigMap {
  const { name, namespace, uid, resourceVersion } = metadata;
  return {
    apiVersion,
    kind,
    metadata: { name, namespace, uid, resourceVersion } as ConfigMap['metadata'],
    ...(data && { data }),
    ...(binaryData && { binaryData: Object.fromEntries(Object.keys(binaryData).map((name) => [name, ''])) }),
  };
}
