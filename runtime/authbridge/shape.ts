/** Checks that a pod, and the objects the decision is made from, have the shape it relies on, where no API server has looked at them before. */

import { boolean, fields, filled, filledText, integer, list, named, required, text, texts } from './field-checks.ts';

/** One sentence naming the first field that is not of its type, or `undefined`. Fields nobody here reads are not looked at. */
export function malformation(pod: unknown): string | undefined {
  return podShape(pod, '');
}

/** As `malformation`, of a pod template at `path`. */
export function templateMalformation(template: unknown, path: string): string | undefined {
  return templateShape(template, path);
}

/** As `malformation`, of the metadata of any object. */
export function metadataMalformation(metadata: unknown): string | undefined {
  return required(fields(objectMetadata))(metadata, 'metadata');
}

/** As `malformation`, of a workload but for its pod template: what is read of its spec and status. */
export function workloadMalformation(workload: unknown): string | undefined {
  return workloadShape(workload, '');
}

/** As `malformation`, of a map of texts. */
export function textsMalformation(value: unknown, path: string): string | undefined {
  return texts(value, path);
}

const probe = fields({ httpGet: fields({ path: text, scheme: text }), tcpSocket: fields({}), grpc: fields({}) });

const container = named({
  image: text,
  args: list(text),
  command: list(text),
  env: list(named({ value: text })),
  ports: list(fields({ containerPort: integer, hostPort: integer })),
  volumeMounts: list(named({ mountPath: text })),
  securityContext: fields({
    runAsUser: integer,
    privileged: boolean,
    capabilities: fields({ add: list(text), drop: list(text) }),
  }),
  startupProbe: probe,
  livenessProbe: probe,
  readinessProbe: probe,
  lifecycle: fields({ postStart: probe, preStop: probe }),
});

const podSpec = required(
  fields({
    containers: required(filled(list(container))),
    initContainers: list(container),
    volumes: list(named({})),
    securityContext: fields({ runAsUser: integer }),
    hostNetwork: boolean,
    shareProcessNamespace: boolean,
    serviceAccountName: text,
    os: fields({ name: filledText }),
  }),
);

const reference = fields({
  apiVersion: filledText,
  kind: filledText,
  name: filledText,
  uid: filledText,
  controller: boolean,
});
const metadata = { labels: texts, annotations: texts };
const objectMetadata = {
  name: text,
  generateName: text,
  namespace: text,
  uid: text,
  resourceVersion: text,
  generation: integer,
  creationTimestamp: text,
  deletionTimestamp: text,
  ...metadata,
  ownerReferences: list(reference),
};
const podShape = fields({ metadata: required(fields(objectMetadata)), spec: podSpec });
const templateShape = required(fields({ metadata: fields(metadata), spec: podSpec }));
const counts = {
  observedGeneration: integer,
  replicas: integer,
  updatedReplicas: integer,
  readyReplicas: integer,
  availableReplicas: integer,
  succeeded: integer,
  failed: integer,
};
/** A number of a Job, the list of a CronJob. */
const active = (value: unknown, path: string) => (Array.isArray(value) ? undefined : integer(value, path));
const workloadShape = fields({
  spec: fields({ replicas: integer, paused: boolean, suspend: boolean, updateStrategy: fields({ type: text }) }),
  status: fields({
    ...counts,
    active,
    startTime: text,
    conditions: list(fields({ type: text, status: text, message: text })),
  }),
});
