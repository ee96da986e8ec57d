/** The Deployment `team1/weather`, with the ports its containers declare. */

import { kinds } from '../../../runtime/api/kinds.ts';
import type { ContainerPort } from '../../../runtime/api/kubernetes.ts';
import type { KubeObject } from '../../../runtime/engine/types.ts';
import { rowOf } from '../../../runtime/workload/kinds.ts';
import { type Workload, workloadOf } from '../../../runtime/workload/workload.ts';

export interface WorkloadFacts {
  readonly ports?: readonly ContainerPort[];
  readonly labels?: Readonly<Record<string, string>>;
}

export function deployment({ ports = [], labels = { app: 'weather' } }: WorkloadFacts = {}): Workload {
  const row = rowOf(kinds.deployment);
  if (row === undefined) throw new Error('no row for Deployment');
  const spec = { containers: [{ name: 'agent', ports }] };
  const object = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'weather', namespace: 'team1', uid: 'uid-1' },
    spec: { selector: {}, template: { metadata: { labels }, spec } },
  };
  return workloadOf(row, object as KubeObject);
}
