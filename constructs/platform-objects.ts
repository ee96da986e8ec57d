/** How the platform's own objects are made: explicit names, the platform's labels, and no namespace on what is cluster-scoped. */

import { ApiObject, JsonPatch } from 'cdk8s';
import type { Construct } from 'constructs';
import { labels as labelNames } from '../runtime/api/names.ts';

/** Value of `app.kubernetes.io/part-of` on everything the platform installs. */
export const partOf = 'rossoctl';

/** Labels of one component of the platform. Never `managed-by`: that belongs to whoever applies the objects. */
export function platformLabels(component: string): Readonly<Record<string, string>> {
  return {
    'app.kubernetes.io/part-of': partOf,
    'app.kubernetes.io/name': 'rossoctl-operator',
    'app.kubernetes.io/component': component,
  };
}

const instanceContext = 'rossoctl:instance';

/** Labels every object that is made below `scope` from now on with the instance of its install. */
export function labelInstance(scope: Construct, instance: string): void {
  scope.node.setContext(instanceContext, instance);
}

/** The label of the instance that `scope` is part of; none outside of one. */
export function instanceLabels(scope: Construct): Readonly<Record<string, string>> {
  const instance: unknown = scope.node.tryGetContext(instanceContext);
  return typeof instance === 'string' ? { [labelNames.instance]: instance } : {};
}

/** What an object says besides its place: never derived from a construct's path (field report CS-02). */
export interface PlatformObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  /** Absent: cluster-scoped. */
  readonly namespace?: string | undefined;
  readonly component: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>> | undefined;
  /** Everything below `metadata`: `spec`, `data`, `rules`, … */
  readonly content?: Readonly<Record<string, unknown>>;
}

/** One object of the platform; cluster-scoped without a namespace, also in a chart that has one. */
export function platformObject(scope: Construct, id: string, object: PlatformObject): ApiObject {
  const { apiVersion, kind, name, namespace, component, labels, annotations, content } = object;
  const made = new ApiObject(scope, id, {
    apiVersion,
    kind,
    metadata: {
      name,
      ...(namespace === undefined ? {} : { namespace }),
      labels: { ...platformLabels(component), ...instanceLabels(scope), ...labels },
      ...(annotations === undefined ? {} : { annotations }),
    },
    ...content,
  });
  return namespace === undefined ? clusterScoped(made) : made;
}

/** Takes away the namespace that a chart writes on every object, whatever its kind. */
export function clusterScoped(object: ApiObject): ApiObject {
  if (object.metadata.namespace !== undefined) object.addJsonPatch(JsonPatch.remove('/metadata/namespace'));
  return object;
}
