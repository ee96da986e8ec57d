/** The platform's configuration and feature gates as the two ConfigMaps the operator reads and reloads. */

import { Construct } from 'constructs';
import { configMaps } from '../runtime/api/names.ts';
import type { FeatureGates } from '../runtime/config/feature-gates.ts';
import type { PartialConfig } from '../runtime/config/platform.ts';
import { configText, gatesText } from './config-text.ts';
import { platformObject } from './platform-objects.ts';

/** Props of `PlatformConfigMaps`. */
export interface PlatformConfigMapsProps {
  /** The operator's namespace. */
  readonly namespace: string;
  /** Values that differ from the compiled defaults. Absent: no ConfigMap, so that someone else can own it. */
  readonly config?: PartialConfig | undefined;
  /** Gates that differ from their defaults. Absent: no ConfigMap. */
  readonly featureGates?: Partial<FeatureGates> | undefined;
}

const component = 'configuration';

/**
 * `rossoctl-platform-config` and `rossoctl-feature-gates`. Synthesis fails, naming the path, on a value the operator would refuse.
 * Only what is set is written: a value equal to its default is still a decision and counts in the configuration hash.
 */
export class PlatformConfigMaps extends Construct {
  constructor(scope: Construct, id: string, props: PlatformConfigMapsProps) {
    super(scope, id);
    const { namespace, config, featureGates } = props;
    const where = (name: string) => `ConfigMap ${namespace}/${name}`;
    const { platform, gates } = configMaps;
    if (config !== undefined) {
      const text = configText(this, config, {
        layer: 'platform',
        where: `${where(platform.name)}, key ${platform.key}`,
      });
      this.#configMap('platform', platform, { namespace, text });
    }
    if (featureGates !== undefined) {
      const source = { layer: 'platform', where: `${where(gates.name)}, key ${gates.key}` } as const;
      this.#configMap('gates', gates, { namespace, text: gatesText(this, featureGates, source) });
    }
  }

  #configMap(
    id: string,
    { name, key }: { readonly name: string; readonly key: string },
    { namespace, text }: { readonly namespace: string; readonly text: string },
  ): void {
    platformObject(this, id, {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      name,
      namespace,
      component,
      content: { data: { [key]: text } },
    });
  }
}
