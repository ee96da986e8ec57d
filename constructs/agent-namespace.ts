/** A namespace for agents: the object itself, its injection label and its defaults. */

import { ApiObject } from 'cdk8s';
import { Construct } from 'constructs';
import { Type } from 'typebox';
import { labels } from '../runtime/api/names.ts';
import { refuseCollisions } from './collisions.ts';
import { type NamespaceConfig, NamespaceDefaults } from './namespace-defaults.ts';
import { clusterScoped } from './platform-objects.ts';
import { NamespaceName } from './prop-schemas.ts';
import { propViolations, refuse } from './refusal.ts';
import { agentNamespaceViolations } from './watched-namespaces.ts';

/** Props of `AgentNamespace`. */
export interface AgentNamespaceProps {
  /** Name of the namespace; none of Kubernetes' own. */
  readonly name: string;
  /**
   * Make the Namespace object itself. Switch off for a namespace that someone else owns.
   * @default true
   */
  readonly create?: boolean;
  /**
   * Defaults of the namespace.
   * @default none: the platform's configuration applies
   */
  readonly defaults?: NamespaceConfig | undefined;
}

const Schema = Type.Object({
  name: NamespaceName,
  create: Type.Optional(Type.Boolean()),
  defaults: Type.Optional(Type.Unsafe<NamespaceConfig>({ type: 'object' })),
});

/**
 * A namespace in which agents run. It always carries `rossoctl-enabled: "true"`, which matters only to an install with
 * `requireNamespaceLabel`.
 */
export class AgentNamespace extends Construct {
  /** Name of the namespace. */
  readonly name: string;

  constructor(scope: Construct, id: string, props: AgentNamespaceProps) {
    super(scope, id);
    refuse(this, propViolations(Schema, props));
    refuse(this, agentNamespaceViolations(props.name, undefined, 'name'));
    refuseCollisions(this);
    this.name = props.name;
    if (props.create ?? true) {
      const namespace = new ApiObject(this, 'namespace', {
        apiVersion: 'v1',
        kind: 'Namespace',
        metadata: { name: props.name, labels: { [labels.enabled]: 'true' } },
      });
      clusterScoped(namespace);
    }
    if (props.defaults !== undefined) {
      new NamespaceDefaults(this, 'defaults', { namespace: props.name, config: props.defaults });
    }
  }
}
