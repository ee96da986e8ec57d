/** A small custom resource and a controller of it, for tests of the engine: it labels a ConfigMap that its owner wrote. */

import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '../../runtime/engine/client.ts';
import type { Controller, Fragment, Kind, KubeObject, Plan, Watch } from '../../runtime/engine/types.ts';
import { type ConfigMap, configMaps } from './engine-bed.ts';

export type Widget = KubeObject & {
  readonly spec: { readonly target: string; readonly color: string };
  readonly status?: WidgetStatus;
} & Readonly<Record<string, unknown>>;

export interface WidgetStatus {
  readonly conditions: readonly {
    readonly type: string;
    readonly status: string;
    readonly reason: string;
    readonly message: string;
  }[];
}

export interface Observed {
  readonly widget: Widget;
  readonly target: ConfigMap | undefined;
}

const crdKind: Kind<
  KubeObject & { readonly status?: { readonly conditions?: readonly { type: string; status: string }[] } }
> = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  plural: 'customresourcedefinitions',
  namespaced: false,
};

/** A kind of its own for each test file that wants one to be missing at first. */
export function widgetKind(plural = 'widgets'): Kind<Widget> {
  return {
    apiVersion: 'engine.example/v1',
    kind: `${plural[0]?.toUpperCase()}${plural.slice(1, -1)}`,
    plural,
    namespaced: true,
  };
}

/** Serves the kind; resolves when the API server does. */
export async function installWidgets(client: Client, { kind, plural }: Kind): Promise<void> {
  const condition = {
    type: 'object',
    required: ['type', 'status', 'lastTransitionTime'],
    properties: Object.fromEntries(
      ['type', 'status', 'reason', 'message', 'lastTransitionTime'].map((name) => [name, { type: 'string' }]),
    ),
  };
  const list = {
    type: 'array',
    items: condition,
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['type'],
  };
  const text = { type: 'string' };
  const schema = {
    type: 'object',
    properties: {
      spec: { type: 'object', properties: { target: text, color: text } },
      status: { type: 'object', properties: { conditions: list } },
    },
  };
  const name = `${plural}.engine.example`;
  const crd = {
    apiVersion: crdKind.apiVersion,
    kind: crdKind.kind,
    metadata: { name },
    spec: {
      group: 'engine.example',
      scope: 'Namespaced',
      names: { plural, kind, singular: kind.toLowerCase() },
      versions: [
        { name: 'v1', served: true, storage: true, subresources: { status: {} }, schema: { openAPIV3Schema: schema } },
      ],
    },
  };
  await client.apply({ kind: crdKind, body: crd }, { fieldManager: 'test' });
  for (;;) {
    const { status } = await client.get(crdKind, { name });
    if (status?.conditions?.some((one) => one.type === 'Established' && one.status === 'True') === true) return;
    await sleep(50);
  }
}

export function widget(kind: Kind<Widget>, namespace: string, name: string, spec: Widget['spec']): Widget {
  return { apiVersion: kind.apiVersion, kind: kind.kind, metadata: { namespace, name }, spec };
}

export interface WidgetControllerOptions {
  readonly name?: string;
  readonly kind: Kind<Widget>;
  readonly fieldManager?: string;
  /** Told of each pass. */
  readonly onObserve?: (widget: Widget) => void | Promise<void>;
  /** Added to each plan. */
  readonly plan?: (observed: Observed) => Partial<Plan<WidgetStatus>>;
  readonly namespace?: string;
}

export const finalizer = 'engine.example/cleanup';

/** Watches, an index and a trigger of its own; labels and annotates the target by the color, and takes both off again. */
export function widgetController(options: WidgetControllerOptions): Controller<Widget, Observed, WidgetStatus> {
  const { kind, name = 'widget', fieldManager = 'widget-test' } = options;
  const scope = options.namespace === undefined ? {} : { namespace: options.namespace };
  const widgets: Watch<Widget> = {
    id: `${name}-${kind.plural}`,
    kind,
    ...scope,
    indexes: { target: ({ spec }) => [spec.target] },
  };
  const targets: Watch<ConfigMap> = { id: `${name}-targets`, kind: configMaps, ...scope };
  return {
    name,
    fieldManager,
    finalizer,
    primary: widgets,
    wakeOn: 'spec',
    triggers: [
      {
        watch: targets,
        affects: ({ old, now }, reader) => {
          const { namespace, name: value = '' } = (now ?? old)?.metadata ?? {};
          return reader
            .list(widgets, { namespace, index: { name: 'target', value } })
            .map(({ metadata }) => ({ namespace: metadata.namespace, name: metadata.name ?? '' }));
        },
      },
    ],
    observe: async (object, { reader }) => {
      await options.onObserve?.(object);
      const { namespace } = object.metadata;
      return { widget: object, target: reader.get(targets, { namespace, name: object.spec.target }) };
    },
    decide: (observed) => {
      const {
        target,
        widget: { spec },
      } = observed;
      const isThere = target !== undefined;
      const labelled = isThere
        ? [fragmentOf(target, { labels: { color: spec.color }, annotations: { painted: 'yes' } })]
        : [];
      const ready = {
        type: 'Ready',
        status: isThere ? 'True' : 'False',
        reason: isThere ? 'Painted' : 'TargetNotFound',
      };
      const message = isThere ? `painted ${spec.color}` : `there is no ConfigMap ${spec.target}`;
      return { apply: labelled, status: { conditions: [{ ...ready, message }] }, ...options.plan?.(observed) };
    },
    release: ({ target }) => (target === undefined ? {} : { apply: [fragmentOf(target, {})] }),
  };
}

export function fragmentOf(
  { metadata }: ConfigMap,
  fields: Pick<KubeObject['metadata'], 'labels' | 'annotations'>,
): Fragment {
  const { namespace, name, uid } = metadata;
  return {
    kind: configMaps,
    body: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace, name, uid, ...fields } },
  };
}
