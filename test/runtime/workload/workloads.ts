/** Builders of workloads for the tests of this folder. */

import type { KubeObject } from '../../../runtime/engine/types.ts';
import { rowOf, workloadRows, type WorkloadKind } from '../../../runtime/workload/kinds.ts';
import { type Workload, workloadOf } from '../../../runtime/workload/workload.ts';

type Fields = Readonly<Record<string, unknown>>;

export interface WorkloadFacts {
  readonly metadata?: Fields;
  readonly template?: Fields;
  readonly spec?: Fields;
  readonly status?: Fields;
}

/** `D0` of the field reports as any kind: `team1/weather-agent`, with container `agent` on port 8080. */
export function object(kind: WorkloadKind, facts: WorkloadFacts = {}): KubeObject {
  const row = workloadRows.find((row) => row.kind === kind);
  if (row === undefined) throw new Error(`no row for ${kind}`);
  const template = {
    metadata: { labels: { app: 'weather-agent' }, ...facts.template },
    spec: {
      serviceAccountName: 'weather-sa',
      containers: [
        { name: 'agent', image: 'example.test/weather:1', ports: [{ containerPort: 8080 }], env: [{ name: 'A' }] },
      ],
      volumes: [{ name: 'cache', emptyDir: {} }],
    },
  };
  const spec = row.templatePath.slice(1).reduceRight<Fields>((inner, step) => ({ [step]: inner }), template);
  return {
    apiVersion: row.watch.kind.apiVersion,
    kind,
    metadata: { namespace: 'team1', name: 'weather-agent', uid: 'uid-1', generation: 1, ...facts.metadata },
    spec: { ...spec, ...facts.spec },
    status: { observedGeneration: 1, ...facts.status },
  } as KubeObject;
}

export function workload(kind: WorkloadKind, facts: WorkloadFacts = {}): Workload {
  const made = object(kind, facts);
  const row = rowOf(made);
  if (row === undefined) throw new Error(`no row for ${kind}`);
  return workloadOf(row, made);
}

/** RFC 7386, from its pseudocode: the test's own, so that a patch is judged by its effect. */
export function merged(target: unknown, patch: unknown): unknown {
  if (typeof patch !== 'object' || patch === null || Array.isArray(patch)) return patch;
  const result: Record<string, unknown> =
    typeof target === 'object' && target !== null && !Array.isArray(target) ? { ...target } : {};
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete result[name];
    else result[name] = merged(result[name], value);
  }
  return result;
}
