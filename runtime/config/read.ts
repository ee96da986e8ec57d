/** Reads the configuration layers from the cache: each text parsed once, each namespace assembled once. */

import type { ConfigMap } from '../api/kubernetes.ts';
import type { Live, Reader, Watch } from '../engine/types.ts';
import type { Layers } from './layers.ts';
import type { FileText } from './layers-of.ts';

export { layersOf, type FileText } from './layers-of.ts';

export interface ConfigWatches {
  readonly platform: Watch<ConfigMap>;
  readonly gates: Watch<ConfigMap>;
  readonly defaults: Watch<ConfigMap>;
}

export interface LayerReader {
  /** The truth of now: a bad layer is in `problems` and nowhere else. Throws `NotSynced` as the cache does. */
  read(reader: Reader, namespace: string): Layers;
  /** As `read`, with each bad layer replaced by the last good value seen of that same object; `problems` keeps those never seen good. */
  lastGood(reader: Reader, namespace: string): Layers;
}

/** The ConfigMaps that make up the configuration. One call an install: the constants are the cache's handles. */
export function configWatches(operatorNamespace: string): ConfigWatches {
  throw new Error(`not yet: ${operatorNamespace}`);
}

export function createLayerReader(options: {
  readonly watches: ConfigWatches;
  readonly operatorNamespace: string;
  readonly configFile: Live<FileText>;
  readonly gatesFile: Live<FileText>;
}): LayerReader {
  throw new Error(`not yet: ${options.operatorNamespace}`);
}
