/** One text of configuration: where it stands, and what tells one version of it from the next. */

import type { ConfigMap } from '../api/kubernetes.ts';
import type { LayerName, LayerSource } from './layers.ts';
import { shortened } from './problem.ts';

/** `missing` says why there is no text although there is an object. */
export type Text = {
  readonly source: LayerSource;
  /** The object: a ConfigMap's uid or a file's path. The same for all its versions. */
  readonly id: string;
  /** Differs whenever the text may differ. */
  readonly version: string;
} & ({ readonly text: string } | { readonly missing: string });

export function textInFile(path: string, text: string): Text {
  return { source: { layer: 'file', where: `file ${path}` }, id: path, version: text, text };
}

/** The text under `key`; without that key a sentence that names the keys there are. */
export function textInConfigMap(configMap: ConfigMap, layer: LayerName, key: string): Text {
  const { namespace = '', name = '', uid, resourceVersion } = configMap.metadata;
  const stored = configMap.data ?? {};
  const text = Object.hasOwn(stored, key) ? stored[key] : undefined;
  const common = {
    source: { layer, where: `ConfigMap ${namespace}/${name}, key ${key}` },
    id: uid ?? `${namespace}/${name}`,
    // Without a resourceVersion (a file on the command line) the content is its own version.
    version: resourceVersion ?? JSON.stringify(stored),
  };
  if (text !== undefined) return { ...common, text };
  const keys = Object.keys(stored).sort();
  const has = keys.length === 0 ? 'it has no keys at all' : `its keys are ${shortened(keys.join(', '))}`;
  return { ...common, missing: `the ConfigMap has no key ${key}; ${has}` };
}
