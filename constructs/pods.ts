/** The pods that an object makes, found by the object's shape: whatever class it was written with, and whatever kind it is. */

/** Plain JSON of any shape. */
export type Json = Readonly<Record<string, unknown>>;

/** A pod, or the template of one. */
export interface PodAt {
  /** Path of its spec in the object: `spec.template.spec`. */
  readonly path: string;
  readonly annotations: Json;
  readonly spec: Json;
}

/** A container of a pod, of any kind. */
export interface ContainerAt {
  /** Path in the object: `spec.template.spec.initContainers[0]`. */
  readonly path: string;
  readonly name: string;
  readonly container: Json;
}

/** Where pod templates are: in workloads and whatever copies their shape (Rollout, Knative Service), in CronJobs, in PodTemplates. */
const templates: readonly (readonly string[])[] = [
  ['spec', 'template'],
  ['spec', 'jobTemplate', 'spec', 'template'],
  ['template'],
];

/** Every pod of an object: its own spec where it is a Pod, its templates, and those of a List's items. */
export function podsOf(object: Json): readonly PodAt[] {
  if (object['kind'] === 'Pod') return podAt([], object);
  const items = listOf(object['items']);
  return [
    ...templates.flatMap((place) =>
      podAt(
        place,
        place.reduce<unknown>((at, key) => recordOf(at)[key], object),
      ),
    ),
    ...items.flatMap((item, index) =>
      podsOf(recordOf(item)).map((pod) => ({ ...pod, path: `items[${index}].${pod.path}` })),
    ),
  ];
}

/** A template without containers is another kind of template. */
function podAt(place: readonly string[], template: unknown): readonly PodAt[] {
  const { metadata, spec } = recordOf(template);
  if (!Array.isArray(recordOf(spec)['containers'])) return [];
  return [
    {
      path: [...place, 'spec'].join('.'),
      annotations: recordOf(recordOf(metadata)['annotations']),
      spec: recordOf(spec),
    },
  ];
}

/** Every container that runs in a pod. */
export function containersOf({ path, spec }: PodAt): readonly ContainerAt[] {
  return ['initContainers', 'containers', 'ephemeralContainers'].flatMap((list) =>
    listOf(spec[list]).map((each, index) => {
      const container = recordOf(each);
      return { path: `${path}.${list}[${index}]`, name: textOf(container['name']) ?? '?', container };
    }),
  );
}

/** A value with the path it was found at. */
export interface ValueAt {
  readonly path: string;
  readonly value: unknown;
}

/** What is at a dotted path below a value, where `*` stands for each item of a list; nothing that is absent or null. */
export function valuesAt(root: ValueAt, path: string): readonly ValueAt[] {
  return path
    .split('.')
    .reduce<readonly ValueAt[]>(
      (found, key) =>
        found
          .flatMap((at) =>
            key === '*'
              ? listOf(at.value).map((value, index) => ({ path: `${at.path}[${index}]`, value }))
              : [{ path: `${at.path}.${key}`, value: recordOf(at.value)[key] }],
          )
          .filter(({ value }) => value !== undefined && value !== null),
      [root],
    );
}

/** The value as a section; an empty one when it is none. */
export function recordOf(value: unknown): Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : {};
}

/** The value as a list; an empty one when it is none. */
export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? (value as readonly unknown[]) : [];
}

/** The value, if it is text. */
export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
