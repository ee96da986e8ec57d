/** Enrols a workload: the AgentRuntime resource, with mistakes found at synthesis instead of in the cluster. */

import type { ApiObject } from 'cdk8s';
import { Construct } from 'constructs';
import { KubeAgentRuntime } from '../imports/agent.rossoctl.dev.ts';
import type { AgentRuntimeSpec } from '../runtime/api/agent-runtime.ts';
import { kinds } from '../runtime/api/kinds.ts';
import type { TargetRef } from '../runtime/api/target-ref.ts';
import { placeViolations } from './agent-place.ts';
import { agentRuntimeViolations, referenceViolations } from './agent-runtime-schema.ts';
import { refuseCollisions } from './collisions.ts';
import { defined, refuse } from './refusal.ts';
import { registerSubject, rivals, subjectOf } from './rivals.ts';
import {
  kindProblem,
  namespaceProblem,
  objectOf,
  reservedKeyProblems,
  type WorkloadTarget,
} from './workload-target.ts';

/** An AgentRuntime by name, made here or elsewhere. */
export interface IAgentRuntime {
  /** Name of the resource. */
  readonly name: string;
  /** Absent: the namespace of whoever applies it. */
  readonly namespace: string | undefined;
}

/** Overrides of the platform's configuration for one workload; absent fields follow namespace and platform. */
export type AgentRuntimeOverrides = Omit<AgentRuntimeSpec, 'type' | 'targetRef'>;

/** Props of `AgentRuntime`: the resource's own spec, with the workload instead of a reference. */
export interface AgentRuntimeProps extends AgentRuntimeOverrides {
  /** The workload: a cdk8s-plus workload, an `ApiObject`, or `{ apiVersion, kind, name }`. */
  readonly target: WorkloadTarget;
  /** What the workload is. Tools are injected only where the platform's gate `injectTools` is on. */
  readonly type: 'agent' | 'tool';
  /**
   * Name of the resource.
   * @default the target's name
   */
  readonly name?: string;
  /**
   * Namespace of the resource; always the target's own.
   * @default the target's namespace, else the chart's
   */
  readonly namespace?: string;
}

/**
 * An `AgentRuntime`. Throws on a prop that is missing, unknown or that the API server would refuse. Synthesis fails, naming construct
 * and remedy, on: a target of a kind the operator does not support, a second AgentRuntime for the same target in the app, a workload
 * in another namespace, a key on the workload that only the operator may set, and a Job that does not say whether it is suspended, which
 * would run before it can be enrolled. The resource needs no place before or after its workload.
 */
export class AgentRuntime extends Construct implements IAgentRuntime {
  /** An AgentRuntime that is not made in this app. Throws on what can be no name. */
  static fromName(
    scope: Construct,
    id: string,
    name: string,
    options: { readonly namespace?: string } = {},
  ): IAgentRuntime {
    return new ReferencedAgentRuntime(scope, id, { name, namespace: options.namespace });
  }

  /** Name of the resource. */
  readonly name: string;
  /** Absent: the namespace of whoever applies it. */
  readonly namespace: string | undefined;
  /** Group, kind and name of the workload. */
  readonly targetRef: TargetRef;
  /** What the workload is enrolled as. */
  readonly type: AgentRuntimeProps['type'];
  /** The resource itself, for what no prop covers. */
  readonly apiObject: KubeAgentRuntime;
  readonly #target: WorkloadTarget;

  constructor(scope: Construct, id: string, props: AgentRuntimeProps) {
    super(scope, id);
    refuse(this, agentRuntimeViolations(props));
    refuseCollisions(this);
    const { target, type, name, namespace, ...overrides } = props;
    const workload = objectOf(target);
    refuse(this, placeViolations(this, { asked: namespace, ofTarget: workload?.metadata.namespace }));
    this.#target = target;
    this.name = name ?? target.name;
    this.type = type;
    this.targetRef = { apiVersion: target.apiVersion, kind: target.kind, name: target.name };
    const place = namespace ?? workload?.metadata.namespace;
    this.apiObject = new KubeAgentRuntime(this, 'Resource', {
      metadata: { name: this.name, ...(place === undefined ? {} : { namespace: place }) },
      spec: specOf(type, this.targetRef, overrides),
    });
    this.namespace = this.apiObject.metadata.namespace;
    registerSubject(this, this.#subject);
    this.node.addValidation({ validate: () => [...this.#problems()] });
  }

  get #subject(): string {
    return subjectOf('AgentRuntime', this.namespace, this.targetRef);
  }

  #problems(): readonly string[] {
    const workload = objectOf(this.#target);
    return [
      ...kindProblem(this.#target),
      ...this.#rivals(),
      ...namespaceProblem('AgentRuntime', this.#target, this.namespace),
      ...(workload === undefined ? [] : [...reservedKeyProblems(workload), ...jobProblem(workload)]),
    ];
  }

  #rivals(): readonly string[] {
    const [rival] = rivals(this, this.#subject);
    if (rival === undefined) return [];
    const { kind, name } = this.targetRef;
    return [
      `${kind} ${name} already has an AgentRuntime at ${rival.node.path}: remove one, a workload has at most one`,
    ];
  }
}

/** Why a Job could never be enrolled, or nothing. One that is to run says so too: it was enrolled while it was suspended. */
function jobProblem(workload: ApiObject): readonly string[] {
  const { spec = {} } = workload.toJson() as { readonly spec?: { readonly suspend?: unknown } };
  if (workload.kind !== kinds.job.kind || typeof spec.suspend === 'boolean') return [];
  return [
    `Job ${workload.name} does not set spec.suspend, and the template of a Job that may run cannot be changed any more, so it would run without sidecars: write suspend: true, and suspend: false once its AgentRuntime is Active`,
  ];
}

/** The overrides in the imported type, whose lists are mutable: a copy. */
function specOf(
  type: AgentRuntimeProps['type'],
  targetRef: TargetRef,
  overrides: AgentRuntimeOverrides,
): ConstructorParameters<typeof KubeAgentRuntime>[2]['spec'] {
  return { type, targetRef, ...(defined(overrides) as object) };
}

class ReferencedAgentRuntime extends Construct implements IAgentRuntime {
  readonly name: string;
  readonly namespace: string | undefined;

  constructor(scope: Construct, id: string, reference: IAgentRuntime) {
    super(scope, id);
    refuse(this, referenceViolations(reference));
    this.name = reference.name;
    this.namespace = reference.namespace;
  }
}
