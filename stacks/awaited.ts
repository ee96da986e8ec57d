/** What Pulumi waits for besides what it knows of itself. */

import type { agentRuntimeReasons } from '../runtime/api/conditions.ts';
import { annotations, labels } from '../runtime/api/names.ts';
import type { TargetRef } from '../runtime/api/target-ref.ts';
import { rowOf, type WorkloadKind } from '../runtime/workload/kinds.ts';
import type { PlatformFacts } from './platform-facts.ts';
import { targetOf, workloadOf } from './targets.ts';
import type { Manifest } from './tree.ts';

interface Enrolling {
  readonly spec: { readonly type: 'agent' | 'tool'; readonly targetRef: TargetRef };
}

const trusted = 'jsonpath={.webhooks[*].clientConfig.caBundle}';

/**
 * Object → the condition, in the form of the annotation `pulumi.com/waitFor`; undefined: none of ours.
 *
 * - A webhook registration: that the API server trusts it.
 * - An AgentRuntime: that it is Ready and, where its platform injects the type in that namespace and the workload replaces its pods by itself,
 *   that every pod carries the sidecars. It comes before a workload of the same app, so the first time it is enough that the operator asks for that.
 * - Its workload: that it is enrolled, and rolled out as such. It takes the place of the provider's own wait, which is over as soon as pods from before
 *   the enrolment are ready.
 */
export function conditions(
  manifests: readonly Manifest[],
  { namespaces, ...types }: PlatformFacts['injects'],
): (manifest: Manifest) => string | undefined {
  const workloads = new Map(
    manifests.filter((each) => rowOf(each) !== undefined).map((each) => [workloadOf(each), each]),
  );
  const targets = new Set(manifests.filter(({ kind }) => kind === 'AgentRuntime').map(targetOf));
  return (manifest) => {
    if (manifest.kind.endsWith('WebhookConfiguration')) return trusted;
    if (manifest.kind !== 'AgentRuntime') return targets.has(workloadOf(manifest)) ? ofWorkload(manifest) : undefined;
    const { namespace = '' } = manifest.metadata;
    const { type, targetRef } = (manifest as Manifest & Enrolling).spec;
    const isMeant = types[type] && (namespaces?.includes(namespace) ?? true);
    const rolls = rowOf(targetRef)?.restartsPods ?? false;
    const workload = workloads.get(targetOf(manifest) ?? '');
    const isApart = workload !== undefined && (isOptedOut(workload) || isLeftToPeople(workload));
    return ofRuntime({ isInjected: isMeant && rolls && !isApart, isBeforeTarget: workload !== undefined });
  };
}

type ConditionType = keyof typeof agentRuntimeReasons;
/** The reason for which a new AgentRuntime is not `Ready`: the operator asks for its workload. */
const asking: (typeof agentRuntimeReasons.Ready)[number] = 'TargetNotFound';

interface Wait {
  readonly isInjected: boolean;
  readonly isBeforeTarget: boolean;
}

/** `condition=` holds for one value of one condition; `jsonpath=` takes alternatives. An `=` of its own would be read as the value to compare with. */
function ofRuntime({ isInjected, isBeforeTarget }: Wait): string {
  const types: readonly ConditionType[] = isInjected ? ['Ready', 'PodsInjected'] : ['Ready'];
  if (!isBeforeTarget) return written(types.map((type) => `condition=${type}`));
  const isAsked = `@.type == "Ready" && @.reason == "${asking}"`;
  return written(
    types.map((type) => `jsonpath={.status.conditions[?(@.type == "${type}" && @.status == "True") || (${isAsked})]}`),
  );
}

function written([first = '', ...others]: readonly string[]): string {
  return others.length === 0 ? first : JSON.stringify([first, ...others]);
}

/** That any of an object's sections fits as soon as the test holds, which is about the whole object. */
const that = (test: string) => `jsonpath={$[?${test}]}`;

/**
 * Kind → what holds once its pods are those of its template and available, as `kubectl rollout status` judges it: all of them of one and the same
 * state. A status that says nothing of a number means zero. The provider itself sees to it that a status speaks of the present generation;
 * its parser fails on more than two operands without brackets.
 */
const rolledOut: Readonly<Record<WorkloadKind, readonly string[]>> = {
  Deployment: [
    'jsonpath={.status.observedGeneration}',
    that('$.spec.replicas == 0 || $.status.replicas == $.spec.replicas'),
    that('$.status.updatedReplicas == $.status.replicas'),
    that('$.status.availableReplicas == $.status.replicas'),
  ],
  StatefulSet: [
    'jsonpath={.status.observedGeneration}',
    that('$.spec.replicas == 0 || $.status.updateRevision == $.status.currentRevision'),
    that('$.spec.replicas == 0 || $.status.readyReplicas == $.spec.replicas'),
  ],
  DaemonSet: [
    'jsonpath={.status.observedGeneration}',
    that('$.status.desiredNumberScheduled == 0 || $.status.updatedNumberScheduled == $.status.desiredNumberScheduled'),
    that('$.status.desiredNumberScheduled == 0 || $.status.numberAvailable == $.status.desiredNumberScheduled'),
  ],
  // It is enrolled while it is suspended; what runs then is to end well, as the provider has it.
  Job: [that('$.spec.suspend == true || $.status.conditions[?@.type == "Complete" && @.status == "True"]')],
  CronJob: [],
};

function ofWorkload(manifest: Manifest): string | undefined {
  const row = rowOf(manifest);
  if (row === undefined) return undefined;
  const metadata = [...row.templatePath, 'metadata'].join('.');
  const isEnrolled = `jsonpath={.${metadata}.annotations["${annotations.configHash}"]}`;
  return written(isLeftToPeople(manifest) ? [isEnrolled] : [isEnrolled, ...rolledOut[row.kind]]);
}

interface Rolling {
  readonly spec?: {
    readonly paused?: boolean;
    readonly updateStrategy?: { readonly type?: string; readonly rollingUpdate?: { readonly partition?: number } };
  };
}

/** A workload whose pods are not injected by its own word. */
function isOptedOut(manifest: Manifest): boolean {
  return rowOf(manifest)?.template(manifest)?.metadata?.labels?.[labels.inject] === 'disabled';
}

/** A workload of which some pods stay as they are until a person acts. */
function isLeftToPeople(manifest: Manifest): boolean {
  const { paused = false, updateStrategy: { type, rollingUpdate } = {} } = (manifest as Manifest & Rolling).spec ?? {};
  return paused || type === 'OnDelete' || (rollingUpdate?.partition ?? 0) > 0;
}
