/** The decision whether a pod is injected at all: ordered steps, each with a reason a person can read. */

import { labels } from '../api/names.ts';
import { neverInjected } from '../api/system-namespaces.ts';
import { gateDefaults, type FeatureGates } from '../config/feature-gates.ts';
import type { Layers } from '../config/layers.ts';
import type { Reason, Snapshot, Step } from './snapshot.ts';

/** How far a pod came: `settled` when a step has said no. */
export interface Eligibility {
  readonly steps: readonly Step[];
  readonly settled?: { readonly reason: Reason; readonly note: string; readonly warning?: boolean };
}

/** What the first steps look at: nothing that takes a request to the API server. */
export type Basics = Pick<Snapshot, 'operation' | 'pod' | 'layers' | 'namespace' | 'operatorNamespace'>;

/** A step's answer: why it passed, or why it settles the matter. */
type Answer = { readonly pass: string } | { readonly stop: Reason; readonly note: string; readonly warning?: boolean };
type Check<S> = readonly [step: string, check: (subject: S) => Answer];

const basicChecks: readonly Check<Basics>[] = Object.freeze([
  ['pod', isPod],
  ['namespace', isForWorkloads],
  ['type', isLabelled],
  ['opt-out', isNotOptedOut],
  ['globalEnabled', isOn],
]);

const checks: readonly Check<Snapshot>[] = Object.freeze([...basicChecks, ['AgentRuntime', hasRuntime]]);

/** The steps that need only the pod and the gates. When they settle the matter, nothing else has to be read, and no failed read can deny. */
export function basicEligibility(basics: Basics): Eligibility {
  return through(basicChecks, basics);
}

/** All steps up to the AgentRuntime gate. */
export function eligibility(snapshot: Snapshot): Eligibility {
  return through(checks, snapshot);
}

function through<S>(checks: readonly Check<S>[], subject: S): Eligibility {
  const steps: Step[] = [];
  for (const [step, check] of checks) {
    const answer = check(subject);
    if ('pass' in answer) {
      steps.push({ step, passed: true, reason: answer.pass });
      continue;
    }
    const { stop: reason, ...rest } = answer;
    return { steps: [...steps, { step, passed: false, reason: answer.note }], settled: { reason, ...rest } };
  }
  return { steps };
}

/** The gates as the layers state them; a layer that cannot be read states nothing here and is judged on its own. */
export function statedGates(layers: Layers): FeatureGates {
  return layers.gates.reduce<FeatureGates>((gates, { values }) => ({ ...gates, ...values }), gateDefaults);
}

function isPod({ pod, operation }: Basics): Answer {
  if (operation !== 'CREATE')
    return { stop: 'NotACreate', note: `the request is ${operation}; only CREATE is injected` };
  if (pod?.kind !== 'Pod' || pod.apiVersion !== 'v1') return { stop: 'NotAPod', note: 'the object is not a v1 Pod' };
  return { pass: 'a Pod is being created' };
}

/** The webhook's selector leaves these out; the handler says the same (report AD-01). */
function isForWorkloads({ namespace, operatorNamespace }: Basics): Answer {
  if (neverInjected(namespace, operatorNamespace) === undefined) {
    return { pass: `${namespace} is no system namespace` };
  }
  return {
    stop: 'SystemNamespace',
    note: `nothing is ever injected in ${namespace}, which the cluster or the operator needs to start`,
  };
}

function isLabelled({ pod, layers }: Basics): Answer {
  const type = pod?.metadata.labels?.[labels.type];
  if (type === undefined) return { stop: 'NotLabelled', note: `the pod has no label ${labels.type}` };
  if (type === 'agent') return { pass: `label ${labels.type} is agent` };
  if (type !== 'tool') {
    return { stop: 'NotLabelled', note: `label ${labels.type} is ${JSON.stringify(type)}, not agent or tool` };
  }
  if (statedGates(layers).injectTools)
    return { pass: `label ${labels.type} is tool and feature gate injectTools is on` };
  if (gatesAreUncertain(layers)) return { pass: `label ${labels.type} is tool and the feature gates cannot be read` };
  return { stop: 'ToolsNotInjected', note: `label ${labels.type} is tool and feature gate injectTools is off` };
}

function isNotOptedOut({ pod }: Basics): Answer {
  if (pod?.metadata.labels?.[labels.inject] !== 'disabled') return { pass: `no label ${labels.inject}: disabled` };
  return { stop: 'OptedOut', note: `label ${labels.inject} is disabled: the pod's owner has opted out` };
}

function isOn({ layers }: Basics): Answer {
  if (statedGates(layers).globalEnabled) return { pass: 'feature gate globalEnabled is on' };
  return { stop: 'InjectionOff', note: 'feature gate globalEnabled is off: nothing is injected anywhere' };
}

function hasRuntime({ runtime, owner, namespace }: Snapshot): Answer {
  if (runtime !== undefined) {
    const { kind, name } = runtime.spec.targetRef;
    return { pass: `AgentRuntime ${namespace}/${runtime.metadata.name} targets ${kind} ${name}` };
  }
  const whom = owner === undefined ? 'the pod' : `${owner.kind} ${namespace}/${owner.name}`;
  return {
    stop: 'NoAgentRuntime',
    note: `no AgentRuntime in namespace ${namespace} targets ${whom}: the pod runs without sidecars; create one to have it injected`,
    warning: true,
  };
}

/** A source of gates is among the layers that cannot be used. */
function gatesAreUncertain({ problems }: Layers): boolean {
  return problems.some(({ source }) => source.where.includes('gates'));
}
