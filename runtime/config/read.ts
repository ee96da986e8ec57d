/** Reads the configuration layers from the cache: each text parsed once, each namespace assembled once. */

import { kinds } from '../api/kinds.ts';
import type { ConfigMap } from '../api/kubernetes.ts';
import { configMaps, labels } from '../api/names.ts';
import type { Live, Reader, Watch } from '../engine/types.ts';
import type { Layers } from './layers.ts';
import { assembled, type FileText, type Found, type Parsers } from './layers-of.ts';
import { rememberedParsers } from './remembered.ts';

export { layersOf, type FileText, type LayerInputs } from './layers-of.ts';

export interface ConfigWatches {
  readonly platform: Watch<ConfigMap>;
  readonly gates: Watch<ConfigMap>;
  readonly defaults: Watch<ConfigMap>;
}

export interface LayerReader {
  /** The truth of now: a bad layer is in `problems` and nowhere else. The same value until something changes. Throws `NotSynced`. */
  read(reader: Reader, namespace: string): Layers;
  /** As `read`, with each bad layer replaced by the last good one seen of that same object; `problems` keeps those never seen good. */
  lastGood(reader: Reader, namespace: string): Layers;
}

export interface LayerReaderOptions {
  readonly watches: ConfigWatches;
  readonly operatorNamespace: string;
  readonly configFile: Live<FileText>;
  readonly gatesFile: Live<FileText>;
}

/** Namespaces and objects remembered at most; beyond that the oldest is assembled or parsed again. */
const limit = 16_384;

/** The ConfigMaps that make up the configuration. Call once an install: the constants are the cache's handles. */
export function configWatches(operatorNamespace: string): ConfigWatches {
  const kind = kinds.configMap;
  const own = { kind, namespace: operatorNamespace, keep };
  return Object.freeze({
    platform: Object.freeze({ id: 'platform-configmap', name: configMaps.platform.name, ...own }),
    gates: Object.freeze({ id: 'gates-configmap', name: configMaps.gates.name, ...own }),
    defaults: Object.freeze({ id: 'defaults-configmaps', kind, labels: `${labels.defaults}=true`, keep }),
  });
}

/** Holds the memory of one process: parsed texts, assembled namespaces, last good layers. */
export function createLayerReader(options: LayerReaderOptions): LayerReader {
  const parsers = rememberedParsers(limit);
  const current = assembler(parsers.current, () => 0);
  const lastGood = assembler(parsers.lastGood, () => parsers.goodCount());
  return {
    read: (reader, namespace) => current(find(options, reader, namespace)),
    lastGood: (reader, namespace) => lastGood(find(options, reader, namespace)),
  };
}

function find(options: LayerReaderOptions, reader: Reader, namespace: string): Found {
  const { watches, operatorNamespace, configFile, gatesFile } = options;
  return {
    namespace,
    configFile: configFile.current,
    gatesFile: gatesFile.current,
    platform: reader.get(watches.platform, { namespace: operatorNamespace, name: configMaps.platform.name }),
    gates: reader.get(watches.gates, { namespace: operatorNamespace, name: configMaps.gates.name }),
    defaults: reader.list(watches.defaults, { namespace }),
  };
}

/** Assembles a namespace only when something it is made of has changed; `epoch` stands for what cannot be seen in the objects. */
function assembler(parsers: Parsers, epoch: () => number): (found: Found) => Layers {
  const byNamespace = new Map<string, { readonly found: Found; readonly epoch: number; readonly layers: Layers }>();
  return (found) => {
    const known = byNamespace.get(found.namespace);
    if (known !== undefined && known.epoch === epoch() && isSame(known.found, found)) return known.layers;
    const layers = assembled(found, parsers);
    byNamespace.delete(found.namespace);
    byNamespace.set(found.namespace, { found, epoch: epoch(), layers });
    const [oldest] = byNamespace.keys();
    if (byNamespace.size > limit && oldest !== undefined) byNamespace.delete(oldest);
    return layers;
  };
}

function isSame(a: Found, b: Found): boolean {
  return (
    isSameVersion(a.platform, b.platform) &&
    isSameVersion(a.gates, b.gates) &&
    a.configFile?.text === b.configFile?.text &&
    a.gatesFile?.text === b.gatesFile?.text &&
    a.defaults.length === b.defaults.length &&
    a.defaults.every((configMap, i) => isSameVersion(configMap, b.defaults[i]))
  );
}

function isSameVersion(a: ConfigMap | undefined, b: ConfigMap | undefined): boolean {
  if (a === b) return true;
  const version = a?.metadata.resourceVersion;
  return version !== undefined && version === b?.metadata.resourceVersion && a?.metadata.uid === b.metadata.uid;
}

function keep(configMap: ConfigMap): ConfigMap {
  const { name, namespace, uid, resourceVersion, labels } = configMap.metadata;
  const metadata = Object.fromEntries(
    Object.entries({ name, namespace, uid, resourceVersion, labels }).filter(([, value]) => value !== undefined),
  );
  const { apiVersion, kind, data } = configMap;
  return { apiVersion, kind, metadata, ...(data === undefined ? {} : { data }) };
}
