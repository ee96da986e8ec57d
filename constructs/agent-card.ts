/** Keeps the card of a workload by hand: the AgentCard resource, with mistakes found at synthesis instead of in the cluster. */

import { Construct } from 'constructs';
import { KubeAgentCard } from '../imports/agent.rossoctl.dev.ts';
import type { AgentCardSpec } from '../runtime/api/agent-card.ts';
import { generatedCardName } from '../runtime/api/names.ts';
import type { TargetRef } from '../runtime/api/target-ref.ts';
import { agentCardViolations } from './agent-card-schema.ts';
import { placeViolations } from './agent-place.ts';
import { AgentRuntime } from './agent-runtime.ts';
import { refuseCollisions } from './collisions.ts';
import { defined, refuse } from './refusal.ts';
import { registerSubject, rivals, subjectOf } from './rivals.ts';
import {
  kindProblem,
  namespaceProblem,
  objectOf,
  protocolProblem,
  reservedKeyProblems,
  type WorkloadTarget,
} from './workload-target.ts';

/** What a card says besides its workload. */
export type AgentCardOverrides = Omit<AgentCardSpec, 'targetRef'>;

/** Props of `AgentCard`: the resource's own spec, with the workload instead of a reference. */
export interface AgentCardProps extends AgentCardOverrides {
  /** The workload: a cdk8s-plus workload, an `ApiObject`, or `{ apiVersion, kind, name }`. It speaks a protocol and is enrolled as an agent. */
  readonly target: WorkloadTarget;
  /**
   * Name of the resource.
   * @default the name of the card that the operator would generate, which this one then replaces: `weather-deployment-card`
   */
  readonly name?: string;
  /**
   * Namespace of the resource; always the target's own.
   * @default the target's namespace, else the chart's
   */
  readonly namespace?: string;
}

/**
 * An `AgentCard`. The operator generates one for each agent that speaks a protocol; this is for what the generated one does not say: another
 * sync period, or whose signature counts. Throws on a prop that is missing, unknown or that the API server would refuse. Synthesis fails,
 * naming construct and remedy, on: a target of a kind the operator does not support, one that is enrolled as a tool or says no protocol, a
 * second AgentCard for the same target in the app, and a workload in another namespace.
 */
export class AgentCard extends Construct {
  /** Name of the resource. */
  readonly name: string;
  /** Absent: the namespace of whoever applies it. */
  readonly namespace: string | undefined;
  /** Group, kind and name of the workload. */
  readonly targetRef: TargetRef;
  /** The resource itself, for what no prop covers. */
  readonly apiObject: KubeAgentCard;
  readonly #target: WorkloadTarget;

  constructor(scope: Construct, id: string, props: AgentCardProps) {
    super(scope, id);
    refuse(this, agentCardViolations(props));
    refuseCollisions(this);
    const { target, name, namespace, ...overrides } = props;
    const workload = objectOf(target);
    refuse(this, placeViolations(this, { asked: namespace, ofTarget: workload?.metadata.namespace }));
    this.#target = target;
    this.name = name ?? generatedCardName(target.kind, target.name);
    this.targetRef = { apiVersion: target.apiVersion, kind: target.kind, name: target.name };
    const place = namespace ?? workload?.metadata.namespace;
    this.apiObject = new KubeAgentCard(this, 'Resource', {
      metadata: { name: this.name, ...(place === undefined ? {} : { namespace: place }) },
      spec: { targetRef: this.targetRef, ...(defined(overrides) as object) },
    });
    this.namespace = this.apiObject.metadata.namespace;
    registerSubject(this, this.#subject('AgentCard'));
    this.node.addValidation({ validate: () => [...this.#problems()] });
  }

  #subject(what: 'AgentCard' | 'AgentRuntime'): string {
    return subjectOf(what, this.namespace, this.targetRef);
  }

  #problems(): readonly string[] {
    const workload = objectOf(this.#target);
    return [
      ...kindProblem(this.#target),
      ...this.#rivals(),
      ...this.#toolProblem(),
      ...namespaceProblem('AgentCard', this.#target, this.namespace),
      ...(workload === undefined ? [] : [...reservedKeyProblems(workload), ...protocolProblem(workload)]),
    ];
  }

  #rivals(): readonly string[] {
    const [rival] = rivals(this, this.#subject('AgentCard'));
    if (rival === undefined) return [];
    const { kind, name } = this.targetRef;
    return [`${kind} ${name} already has an AgentCard at ${rival.node.path}: remove one, a workload has at most one`];
  }

  /** Cards are fetched from agents alone. */
  #toolProblem(): readonly string[] {
    const [runtime] = rivals(this, this.#subject('AgentRuntime'));
    if (!(runtime instanceof AgentRuntime) || runtime.type !== 'tool') return [];
    const { kind, name } = this.targetRef;
    return [
      `${kind} ${name} is enrolled as a tool at ${runtime.node.path}, and only agents have cards: remove the AgentCard, or enrol it as an agent`,
    ];
  }
}
