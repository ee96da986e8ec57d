/** What the cache keeps of a workload: who it is, its template's metadata, ports and account, what decides whether it can be injected, and how its rollout stands. */

import type { KubeObject, ObjectMeta } from '../engine/types.ts';

type Fields = Readonly<Record<string, unknown>>;

/** A copy of kubectl's whole manifest, as large as the object; nothing here reads it. */
const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration';

const specFields = [
  'replicas',
  'paused',
  'progressDeadlineSeconds',
  'selector',
  'updateStrategy',
  'strategy',
  'suspend',
  'schedule',
];
const statusFields = [
  'observedGeneration',
  'replicas',
  'updatedReplicas',
  'readyReplicas',
  'availableReplicas',
  'currentRevision',
  'updateRevision',
  'desiredNumberScheduled',
  'currentNumberScheduled',
  'updatedNumberScheduled',
  'numberAvailable',
  'startTime',
  'active',
  'succeeded',
  'failed',
];

/** Those that are read, and only while they hold: a workload in order has none of them. */
const conditionTypes: readonly unknown[] = ['ReplicaFailure', 'Complete', 'Failed'];
/** Characters kept of a message, which another webhook may have written. */
const longestMessage = 1024;

/** Reduces a workload of any supported kind; its template stands at `templatePath`. CronJob's `status.active` is a list and is dropped. */
export function keepTemplateObject(object: KubeObject, templatePath: readonly string[]): KubeObject {
  const { spec, status } = object as KubeObject & { readonly spec?: unknown; readonly status?: unknown };
  return {
    apiVersion: object.apiVersion,
    kind: object.kind,
    metadata: keepMetadata(object.metadata),
    spec: { ...picked(fieldsOf(spec), specFields), ...keptAlong(spec, templatePath.slice(1)) },
    status: { ...picked(fieldsOf(status), statusFields, isScalar), ...keptConditions(fieldsOf(status)['conditions']) },
  } as KubeObject;
}

/** Metadata without the field managers' book-keeping and without kubectl's copy of the manifest. */
export function keepMetadata(metadata: ObjectMeta): ObjectMeta {
  const { managedFields: _, annotations, ...rest } = metadata;
  if (annotations === undefined) return rest;
  if (!(lastApplied in annotations)) return { ...rest, annotations };
  const { [lastApplied]: __, ...others } = annotations;
  return { ...rest, annotations: others };
}

function keptConditions(conditions: unknown): Fields {
  if (!Array.isArray(conditions)) return {};
  const kept = conditions
    .map(fieldsOf)
    .filter(({ type, status }) => status === 'True' && conditionTypes.includes(type))
    .map(({ type, status, message }) => ({
      type,
      status,
      ...(typeof message === 'string' ? { message: message.slice(0, longestMessage) } : {}),
    }));
  return kept.length === 0 ? {} : { conditions: kept };
}

/** The branch of `value` along `path`, ending in the reduced template. */
function keptAlong(value: unknown, path: readonly string[]): Fields {
  const [step, ...rest] = path;
  if (step === undefined) return keptTemplate(value);
  const next = fieldsOf(value)[step];
  return next === undefined ? {} : { [step]: keptAlong(next, rest) };
}

function keptTemplate(template: unknown): Fields {
  const { metadata, spec } = fieldsOf(template);
  const podSpec = fieldsOf(spec);
  return {
    ...(metadata === undefined ? {} : { metadata: keepMetadata(metadata as ObjectMeta) }),
    spec: {
      ...picked(podSpec, ['serviceAccountName', 'hostNetwork', 'os']),
      ...keptUser(podSpec),
      ...keptVolumes(podSpec['volumes']),
      ...(podSpec['initContainers'] === undefined ? {} : { initContainers: keptContainers(podSpec['initContainers']) }),
      containers: keptContainers(podSpec['containers']),
    },
  };
}

function keptContainers(containers: unknown): readonly Fields[] {
  if (!Array.isArray(containers)) return [];
  return containers
    .map(fieldsOf)
    .map((container) => ({ ...picked(container, ['name', 'ports', 'restartPolicy']), ...keptUser(container) }));
}

/** Of a pod, or of one container. */
function keptUser({ securityContext }: Fields): Fields {
  const kept = picked(fieldsOf(securityContext), ['runAsUser']);
  return Object.keys(kept).length === 0 ? {} : { securityContext: kept };
}

/** Volumes that are injected have names of this kind; any other is nobody's concern. */
const volumePrefix = 'rossoctl-';

function keptVolumes(volumes: unknown): Fields {
  if (!Array.isArray(volumes)) return {};
  const kept = volumes
    .map(fieldsOf)
    .filter(({ name }) => typeof name === 'string' && name.startsWith(volumePrefix))
    .map((volume) => picked(volume, ['name', 'emptyDir']));
  return kept.length === 0 ? {} : { volumes: kept };
}

function picked(from: Fields, names: readonly string[], wanted: (value: unknown) => boolean = isPresent): Fields {
  return Object.fromEntries(names.filter((name) => wanted(from[name])).map((name) => [name, from[name]]));
}

function isPresent(value: unknown): boolean {
  return value !== undefined;
}

function isScalar(value: unknown): boolean {
  return typeof value === 'number' || typeof value === 'string';
}

function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {};
}
