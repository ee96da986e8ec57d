/** Checks that a pod has the shape the decision relies on, where no API server has looked at it before. */

import { isRecord } from './record.ts';

type Check = (value: unknown, path: string) => string | undefined;

/** One sentence naming the first field that is not of its type, or `undefined`. Fields nobody here reads are not looked at. */
export function malformation(pod: unknown): string | undefined {
  return podShape(pod, '');
}

/** As `malformation`, of a pod template at `path`. */
export function templateMalformation(template: unknown, path: string): string | undefined {
  return templateShape(template, path);
}

const probe = fields({ httpGet: fields({}), tcpSocket: fields({}), grpc: fields({}) });

const container = named({
  image: text,
  args: list(text),
  command: list(text),
  env: list(named({ value: text })),
  ports: list(fields({ containerPort: integer, hostPort: integer })),
  volumeMounts: list(named({ mountPath: text })),
  securityContext: fields({ runAsUser: integer, capabilities: fields({ add: list(text) }) }),
  startupProbe: probe,
  livenessProbe: probe,
  readinessProbe: probe,
});

const podSpec = required(
  fields({
    containers: required(filled(list(container))),
    initContainers: list(container),
    volumes: list(named({})),
    securityContext: fields({ runAsUser: integer }),
    hostNetwork: boolean,
  }),
);

const reference = fields({ apiVersion: required(text), kind: required(text), name: required(text) });
const metadata = { labels: texts, annotations: texts };
const podShape = fields({
  metadata: required(fields({ ...metadata, name: text, generateName: text, ownerReferences: list(reference) })),
  spec: podSpec,
});
const templateShape = required(fields({ metadata: fields(metadata), spec: podSpec }));

/** An object whose known fields pass; absent and null pass. */
function fields(checks: Readonly<Record<string, Check>>): Check {
  const entries = Object.entries(checks);
  return (value, path) => {
    if (value === undefined || value === null) return undefined;
    if (!isRecord(value)) return `${path || 'the pod'} must be an object`;
    for (const [name, check] of entries) {
      const problem = check(value[name], path === '' ? name : `${path}.${name}`);
      if (problem !== undefined) return problem;
    }
    return undefined;
  };
}

function named(checks: Readonly<Record<string, Check>>): Check {
  return required(fields({ name: required(text), ...checks }));
}

function required(check: Check): Check {
  return (value, path) => (value === undefined || value === null ? `${path} is missing` : check(value, path));
}

function list(check: Check): Check {
  return (value, path) => {
    if (value === undefined || value === null) return undefined;
    if (!Array.isArray(value)) return `${path} must be a list`;
    for (const [index, element] of value.entries()) {
      const problem = required(check)(element, `${path}[${index}]`);
      if (problem !== undefined) return problem;
    }
    return undefined;
  };
}

function filled(check: Check): Check {
  return (value, path) => (Array.isArray(value) && value.length === 0 ? `${path} is empty` : check(value, path));
}

function text(value: unknown, path: string): string | undefined {
  if (value === undefined || value === null || typeof value === 'string') return undefined;
  return `${path} must be a string, not ${typeName(value)}; put it in quotes`;
}

function texts(value: unknown, path: string): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (!isRecord(value)) return `${path} must be a map of strings`;
  for (const [key, element] of Object.entries(value)) {
    const problem = text(element, `${path}[${JSON.stringify(key)}]`);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function integer(value: unknown, path: string): string | undefined {
  if (value === undefined || value === null || Number.isInteger(value)) return undefined;
  return `${path} must be a whole number, not ${typeName(value)}`;
}

function boolean(value: unknown, path: string): string | undefined {
  if (value === undefined || value === null || typeof value === 'boolean') return undefined;
  return `${path} must be true or false, not ${typeName(value)}`;
}

function typeName(value: unknown): string {
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'bigint') return `the number ${value}`;
  return typeof value === 'object' ? 'an object' : `the ${typeof value} ${JSON.stringify(value)}`;
}
