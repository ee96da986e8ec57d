/** A small cluster for tests of look-ups: a Deployment with its ReplicaSet, a CronJob's Job, pods of either. */

import type { KubeObject, Watch } from '../../../runtime/engine/types.ts';
import { workloadRows } from '../../../runtime/workload/kinds.ts';
import { runtime } from './fixtures.ts';

export const deploymentRow = workloadRows.find(({ kind }) => kind === 'Deployment')?.watch as Watch;
export const jobRow = workloadRows.find(({ kind }) => kind === 'Job')?.watch as Watch;
export const target = (kind: string, name: string, group = 'apps/v1') => ({
  spec: { targetRef: { apiVersion: group, kind, name } },
});
export const elsewhere = {
  ...runtime({ name: 'elsewhere' }),
  metadata: { ...runtime({ name: 'elsewhere' }).metadata, namespace: 'team2' },
};
export const owned = (kind: string, name: string, uid: string, apiVersion = 'apps/v1') => ({
  ownerReferences: [{ apiVersion, kind, name, uid, controller: true }],
});
export const replicaSet: KubeObject = {
  apiVersion: 'apps/v1',
  kind: 'ReplicaSet',
  metadata: {
    namespace: 'team1',
    name: 'weather-agent-abc',
    uid: 'rs',
    ...owned('Deployment', 'weather-agent', 'uid-d0'),
  },
};
export const job: KubeObject = {
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: { namespace: 'team1', name: 'cron-1', uid: 'job', ...owned('CronJob', 'cron', 'uid-cron', 'batch/v1') },
};
export const podOf = (name: string, owner: object, more: object = {}): KubeObject =>
  ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { namespace: 'team1', name, uid: name, ...owner },
    spec: { containers: [] },
    status: { phase: 'Running' },
    ...more,
  }) as KubeObject;
