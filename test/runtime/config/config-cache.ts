/** A cache of ConfigMaps and mounted files for the tests of the layer reader. */

import type { ConfigMap } from '../../../runtime/api/kubernetes.ts';
import { configWatches, createLayerReader, type FileText } from '../../../runtime/config/read.ts';
import type { KubeObject, Live, Reader, Watch } from '../../../runtime/engine/types.ts';

export const operatorNamespace = 'rossoctl-system';
export const watches = configWatches(operatorNamespace);

/** A cache that holds these ConfigMaps, each in the watch its shape belongs to. */
export function cache(...configMaps: readonly ConfigMap[]): Reader {
  const objects = (watch: Watch<never> | Watch): readonly KubeObject[] =>
    configMaps.filter(({ metadata }) =>
      watch.name === undefined
        ? metadata.labels?.['rossoctl.io/defaults'] === 'true'
        : metadata.name === watch.name && metadata.namespace === watch.namespace,
    );
  return {
    get: <T extends KubeObject>(watch: Watch<T>, key: { name: string; namespace?: string | undefined }) =>
      objects(watch as Watch).find(
        ({ metadata }) => metadata.name === key.name && metadata.namespace === key.namespace,
      ) as T | undefined,
    list: <T extends KubeObject>(watch: Watch<T>, where?: { namespace?: string | undefined }) =>
      objects(watch as Watch).filter(
        ({ metadata }) => metadata.namespace === where?.namespace,
      ) as unknown as readonly T[],
  };
}

function file(path: string, text?: string): Live<FileText> & { current: FileText } {
  return { current: { path, text }, subscribe: () => () => {} };
}

export function layerReader(configText?: string, gatesText?: string) {
  const configFile = file('/etc/rossoctl/config.yaml', configText);
  const gatesFile = file('/etc/rossoctl/feature-gates/feature-gates.yaml', gatesText);
  return { configFile, gatesFile, ...createLayerReader({ watches, operatorNamespace, configFile, gatesFile }) };
}
