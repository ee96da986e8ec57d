/** One row for each kind of workload an AgentRuntime can target. */

import { kinds } from '../api/kinds.ts';
import type { CronJob, DaemonSet, Deployment, Job, PodTemplate, StatefulSet } from '../api/kubernetes.ts';
import type { KubeObject, Kind, Watch } from '../engine/types.ts';
import { groupOf } from '../api/target-ref.ts';
import { keepTemplateObject } from './keep.ts';
import { daemonSetPods, deploymentPods, jobPods, noPods, type PodCounts, statefulSetPods } from './pod-counts.ts';
import { daemonSetRollout, deploymentRollout, type Rollout, statefulSetRollout } from './rollout.ts';
import { controllerUid } from './owner.ts';

export type WorkloadKind = 'Deployment' | 'StatefulSet' | 'DaemonSet' | 'Job' | 'CronJob';

/** What differs from kind to kind; everything else about a workload is the same code. */
export interface WorkloadRow {
  readonly kind: WorkloadKind;
  /** API group; the version of a reference does not matter. */
  readonly group: string;
  /**
   * Reduced by `keep` to metadata, template metadata, ServiceAccount, container names and ports, and what `rollout` reads.
   * Index `owner`: the controller's uid (the Jobs of a CronJob).
   */
  readonly watch: Watch;
  /** Where the pod template stands in the object. */
  readonly templatePath: readonly string[];
  readonly template: (object: KubeObject) => PodTemplate | undefined;
  /** As `kubectl rollout status` judges it. */
  readonly rollout: (object: KubeObject) => Rollout;
  /** By its own status. A CronJob's is that of its Jobs: `podCountsOf`. */
  readonly pods: (object: KubeObject) => PodCounts;
  /** Whether a change of the template replaces running pods. Job and CronJob: only later runs have it. */
  readonly restartsPods: boolean;
  /** Whether the API server still accepts our labels on the template. A Job's template is immutable once the Job may run. */
  readonly canLabelTemplate: (object: KubeObject) => boolean;
}

/** What a row states about its own type; `row` closes over the type so that the table is uniform. */
interface RowFacts<T extends KubeObject> {
  readonly kind: WorkloadKind;
  readonly object: Kind<T>;
  readonly templatePath: readonly string[];
  readonly template: (object: T) => PodTemplate | undefined;
  readonly rollout: (object: T) => Rollout;
  readonly pods: (object: T) => PodCounts;
  readonly restartsPods: boolean;
  readonly canLabelTemplate: (object: T) => boolean;
}

function row<T extends KubeObject>(facts: RowFacts<T>): WorkloadRow {
  const { kind, object, templatePath, restartsPods } = facts;
  return Object.freeze({
    kind,
    group: groupOf(object.apiVersion),
    watch: Object.freeze({
      id: object.plural,
      kind: object as Kind,
      keep: (workload: KubeObject) => keepTemplateObject(workload, templatePath),
      indexes: { owner: controllerUid },
    }),
    templatePath,
    template: (workload: KubeObject) => facts.template(workload as T),
    rollout: (workload: KubeObject) => facts.rollout(workload as T),
    pods: (workload: KubeObject) => facts.pods(workload as T),
    restartsPods,
    canLabelTemplate: (workload: KubeObject) => facts.canLabelTemplate(workload as T),
  });
}

const inSpec = Object.freeze(['spec', 'template']);
const inJobTemplate = Object.freeze(['spec', 'jobTemplate', 'spec', 'template']);

/** The supported target kinds, in the order in which messages list them. */
export const workloadRows: readonly WorkloadRow[] = Object.freeze([
  row<Deployment>({
    kind: 'Deployment',
    object: kinds.deployment,
    templatePath: inSpec,
    template: (deployment) => deployment.spec?.template,
    rollout: deploymentRollout,
    pods: deploymentPods,
    restartsPods: true,
    canLabelTemplate: () => true,
  }),
  row<StatefulSet>({
    kind: 'StatefulSet',
    object: kinds.statefulSet,
    templatePath: inSpec,
    template: (set) => set.spec?.template,
    rollout: statefulSetRollout,
    pods: statefulSetPods,
    restartsPods: true,
    canLabelTemplate: () => true,
  }),
  row<DaemonSet>({
    kind: 'DaemonSet',
    object: kinds.daemonSet,
    templatePath: inSpec,
    template: (set) => set.spec?.template,
    rollout: daemonSetRollout,
    pods: daemonSetPods,
    restartsPods: true,
    canLabelTemplate: () => true,
  }),
  row<Job>({
    kind: 'Job',
    object: kinds.job,
    templatePath: inSpec,
    template: (job) => job.spec?.template,
    rollout: () => 'finished',
    pods: jobPods,
    restartsPods: false,
    canLabelTemplate: isNeverStarted,
  }),
  row<CronJob>({
    kind: 'CronJob',
    object: kinds.cronJob,
    templatePath: inJobTemplate,
    template: (cronJob) => cronJob.spec?.jobTemplate?.spec?.template,
    rollout: () => 'finished',
    pods: () => noPods,
    restartsPods: false,
    canLabelTemplate: () => true,
  }),
]);

/** The API server allows a change of template labels only while a Job is suspended and has no start time. */
function isNeverStarted(job: Job): boolean {
  const { startTime, active, succeeded, failed } = job.status ?? {};
  const pods = (active ?? 0) + (succeeded ?? 0) + (failed ?? 0);
  return job.spec?.suspend === true && startTime === undefined && pods === 0;
}

/** The row of a reference, `undefined` for a kind that is not supported: `apps/v1beta1 Deployment` is, `foo.example/v1 Deployment` is not. */
export function rowOf(reference: { readonly apiVersion: string; readonly kind: string }): WorkloadRow | undefined {
  const group = groupOf(reference.apiVersion);
  return workloadRows.find((row) => row.kind === reference.kind && row.group === group);
}
