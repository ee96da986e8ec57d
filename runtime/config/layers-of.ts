/** ConfigMaps and files → the layers for one namespace. Pure, so that the command line shows what the operator would see. */

import type { ConfigMap } from '../api/kubernetes.ts';
import type { Layers } from './layers.ts';

/** A mounted file. `text` is undefined when there is none: a layer that sets nothing. */
export interface FileText {
  readonly text: string | undefined;
  readonly path: string;
}

export interface LayerInputs {
  readonly operatorNamespace: string;
  readonly namespace: string;
  /** Any ConfigMaps of any namespace; those that are no configuration are passed over. */
  readonly configMaps: readonly ConfigMap[];
  readonly configFile?: FileText;
  readonly gatesFile?: FileText;
}

/** The layers of a namespace. Never throws: what cannot be used is in `problems`. */
export function layersOf(inputs: LayerInputs): Layers {
  throw new Error(`not yet: ${inputs.namespace}`);
}
