/** Defaults of one namespace: a ConfigMap that overrides the platform's configuration for every agent in it. */

import { ApiObject } from 'cdk8s';
import { Construct } from 'constructs';
import { Type } from 'typebox';
import { configMaps, labels } from '../runtime/api/names.ts';
import type { PartialConfig } from '../runtime/config/platform.ts';
import { refuseCollisions } from './collisions.ts';
import { configText } from './config-text.ts';
import { NamespaceName, ObjectName } from './prop-schemas.ts';
import { propViolations, refuse } from './refusal.ts';
import { registerSubject, rivals, subjectOf } from './rivals.ts';
import { agentNamespaceViolations } from './watched-namespaces.ts';

/**
 * What a namespace may set: everything but images, the proxy's ports and user, and the pace of rollouts, which are the
 * platform's alone.
 */
export type NamespaceConfig = Omit<PartialConfig, 'images' | 'proxy' | 'rollout'>;

/** Props of `NamespaceDefaults`. */
export interface NamespaceDefaultsProps {
  /** The namespace; it must exist or be made elsewhere. */
  readonly namespace: string;
  /** Values that differ from the platform's. */
  readonly config: NamespaceConfig;
  /**
   * Name of the ConfigMap. The label counts, not the name.
   * @default 'rossoctl-defaults'
   */
  readonly name?: string;
}

const Schema = Type.Object({
  namespace: NamespaceName,
  name: Type.Optional(ObjectName),
  config: Type.Unsafe<NamespaceConfig>({ type: 'object' }),
});

/**
 * A ConfigMap labelled `rossoctl.io/defaults: "true"`. Synthesis fails on a second one for the same namespace in the app (the
 * operator would use the first by name and warn), on an unknown key, and on a key that is the platform's alone, with its path.
 */
export class NamespaceDefaults extends Construct {
  /** The namespace whose agents they are for. */
  readonly namespace: string;
  /** What they are, as given. */
  readonly config: NamespaceConfig;
  /** Name of the ConfigMap. */
  readonly name: string;

  constructor(scope: Construct, id: string, props: NamespaceDefaultsProps) {
    super(scope, id);
    refuse(this, propViolations(Schema, props));
    refuse(this, agentNamespaceViolations(props.namespace, undefined, 'namespace', 'choose another'));
    refuseCollisions(this);
    this.namespace = props.namespace;
    this.config = props.config;
    this.name = props.name ?? 'rossoctl-defaults';
    const { key } = configMaps.namespaceDefaults;
    const where = `ConfigMap ${this.namespace}/${this.name}, key ${key}`;
    new ApiObject(this, 'config', {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: this.name, namespace: this.namespace, labels: { [labels.defaults]: 'true' } },
      data: { [key]: configText(this, props.config, { layer: 'namespace', where }) },
    });
    registerSubject(this, this.#subject);
    this.node.addValidation({ validate: () => this.#rivals() });
  }

  get #subject(): string {
    return subjectOf('NamespaceDefaults', this.namespace);
  }

  #rivals(): string[] {
    const [rival] = rivals(this, this.#subject);
    return rival === undefined
      ? []
      : [
          `namespace ${this.namespace} already has defaults at ${rival.node.path}: merge the two into one NamespaceDefaults`,
        ];
  }
}
