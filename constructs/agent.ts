/** An agent or a tool in one: its workload, Service, account, the AgentRuntime that enrols it and, if asked for, its AgentCard. */

import { ApiObject, Chart } from 'cdk8s';
import { Construct } from 'constructs';
import { AgentCard } from './agent-card.ts';
import { placeViolations } from './agent-place.ts';
import type { AgentProps } from './agent-props.ts';
import { AgentRuntime } from './agent-runtime.ts';
import { agentViolations } from './agent-schema.ts';
import {
  type AgentShape,
  agentAccount,
  agentAnnotations,
  agentLabels,
  agentServiceSpec,
  agentWorkloadSpec,
  type NamedAgentProps,
} from './agent-workload.ts';
import { refuse } from './refusal.ts';

const shapes = {
  agent: { defaultProtocols: ['a2a'], portName: 'a2a' },
  tool: { defaultProtocols: [], portName: 'http' },
} as const satisfies Readonly<Record<string, AgentShape>>;

/** What `Agent` and `Tool` have in common. */
abstract class EnrolledWorkload extends Construct {
  /** Name of everything the construct makes. */
  readonly name: string;
  /** Absent: the namespace of whoever applies it. */
  readonly namespace: string | undefined;
  /** The Deployment or StatefulSet, for what no prop covers: `agent.workload.addJsonPatch(…)`. */
  readonly workload: ApiObject;
  /** The Service in front of the pods. */
  readonly service: ApiObject;
  /** What enrols the workload. */
  readonly runtime: AgentRuntime;
  /** Only where the prop `card` asks for one; else the operator generates it. */
  readonly card: AgentCard | undefined;
  /** The account the pods run as, from which their SPIFFE ID follows. */
  readonly serviceAccountName: string;

  protected constructor(scope: Construct, id: string, type: keyof typeof shapes, given: AgentProps) {
    super(scope, id);
    const { name, ...rest } = { ...given };
    const props: NamedAgentProps = { ...rest, name: name ?? id };
    refuse(this, agentViolations(props, { type, hasOwnName: name !== undefined }));
    const shape: AgentShape = shapes[type];
    refuse(this, placeViolations(this, { asked: props.namespace }));
    this.name = props.name;
    this.namespace = props.namespace ?? Chart.of(this).namespace;
    this.serviceAccountName = agentAccount(props);
    const account = props.serviceAccountName === undefined ? this.#account(props) : undefined;
    const labels = agentLabels(props, shape);
    this.workload = this.#object('workload', {
      apiVersion: 'apps/v1',
      kind: props.kind ?? 'Deployment',
      metadata: { labels, annotations: agentAnnotations(props) },
      spec: agentWorkloadSpec(props, shape),
    });
    if (account !== undefined) this.workload.addDependency(account);
    this.service = this.#object('service', {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { labels },
      spec: agentServiceSpec(props, shape),
    });
    this.runtime = new AgentRuntime(this, 'runtime', { ...props.runtime, target: this.workload, type });
    const { card = false } = props;
    this.card =
      card === false
        ? undefined
        : new AgentCard(this, 'card', { ...(card === true ? {} : card), target: this.workload });
  }

  #account(props: NamedAgentProps): ApiObject {
    return this.#object('account', {
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { labels: { ...props.labels } },
      automountServiceAccountToken: false,
    });
  }

  /** One object under the agent's own name. */
  #object(
    id: string,
    object: { readonly apiVersion: string; readonly kind: string } & Readonly<Record<string, unknown>>,
  ) {
    const metadata = object['metadata'] as Readonly<Record<string, unknown>>;
    const namespace = this.namespace === undefined ? {} : { namespace: this.namespace };
    return new ApiObject(this, id, { ...object, metadata: { ...metadata, name: this.name, ...namespace } });
  }
}

/**
 * An agent: an ordinary Deployment (or StatefulSet) as a developer would write it, its Service and account, and the AgentRuntime
 * that enrols it. Nothing of the platform is written on the workload but the protocol label `protocol.rossoctl.io/a2a`; type,
 * hash and sidecars are the operator's to add. Names are the agent's name, by default the construct's id; selectors are fixed.
 * Throws on a prop that is missing, unknown or that Kubernetes would refuse.
 */
export class Agent extends EnrolledWorkload {
  constructor(scope: Construct, id: string, props: AgentProps) {
    super(scope, id, 'agent', props);
  }
}

/** A tool: as `Agent`, with type `tool` and no protocol label of its own accord. */
export class Tool extends EnrolledWorkload {
  constructor(scope: Construct, id: string, props: AgentProps) {
    super(scope, id, 'tool', props);
  }
}
