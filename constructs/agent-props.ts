/** Everything that can be said about an agent or a tool, with every default. */

import type { AgentCardOverrides } from './agent-card.ts';
import type { AgentRuntimeOverrides } from './agent-runtime.ts';
import type { ResourceQuantities } from './resource-quantities.ts';

/** Props of `Agent` and `Tool`. */
export interface AgentProps {
  /**
   * Name of the workload, Service, account and AgentRuntime: at most 63 lower-case letters, digits and dashes, beginning with a letter.
   * @default the construct's id
   */
  readonly name?: string;
  /** Image of the agent. */
  readonly image: string;
  /**
   * Namespace of everything the construct makes.
   * @default the chart's namespace
   */
  readonly namespace?: string;
  /**
   * When the kubelet pulls the image.
   * @default 'IfNotPresent'
   */
  readonly imagePullPolicy?: 'Always' | 'IfNotPresent' | 'Never';
  /**
   * Port the agent listens on; also the Service's port.
   * @default 8080
   */
  readonly port?: number;
  /**
   * Kind of workload. A StatefulSet for an agent whose pods need stable names.
   * @default 'Deployment'
   */
  readonly kind?: 'Deployment' | 'StatefulSet';
  /**
   * Replicas. Leave out when an autoscaler decides.
   * @default the API server's: 1
   */
  readonly replicas?: number;
  /**
   * Protocols the agent speaks, each a label `protocol.rossoctl.io/<name>`.
   * @default ['a2a'] for an agent, none for a tool
   */
  readonly protocols?: readonly string[];
  /**
   * What is run, instead of the image's entry point.
   * @default the image's own
   */
  readonly command?: readonly string[];
  /**
   * Arguments of the command.
   * @default the image's own
   */
  readonly args?: readonly string[];
  /**
   * Environment variables with their values; no secrets, which belong into `envFromSecrets`.
   * @default none
   */
  readonly env?: Readonly<Record<string, string>>;
  /**
   * Secrets whose keys become environment variables, for example an API key of a model.
   * @default none
   */
  readonly envFromSecrets?: readonly string[];
  /**
   * Requests and limits of the agent's container.
   * @default requests 100m CPU and 128Mi, limit 512Mi
   */
  readonly resources?: ResourceQuantities;
  /**
   * Path of an HTTP probe on `port`, answered 200 when the agent is ready.
   * @default a TCP connection to `port`
   */
  readonly healthPath?: string;
  /**
   * User the agent runs as; needed when the image's own is root or a name instead of a number. Neither root nor the proxy's own, 1337 or what the platform says.
   * @default the image's own, which must not be root
   */
  readonly user?: number;
  /**
   * Allow writing to the image's file system. `/tmp` is always writable.
   * @default false
   */
  readonly writableRoot?: boolean;
  /**
   * An existing ServiceAccount. An agent's SPIFFE ID follows from its account, so two agents should not share one.
   * @default one of the agent's own, without a mounted API token
   */
  readonly serviceAccountName?: string;
  /**
   * More labels of the workload and its pods; `app.kubernetes.io/name` is the agent's name.
   * @default none
   */
  readonly labels?: Readonly<Record<string, string>>;
  /**
   * Overrides of the platform's configuration for this agent.
   * @default none: namespace and platform decide
   */
  readonly runtime?: AgentRuntimeOverrides;
  /**
   * Keep the agent's AgentCard in the app: `true` as the operator would generate it, or with what it shall say besides. Agents only.
   * @default false: the operator generates one, as long as the agent speaks a protocol
   */
  readonly card?: boolean | AgentCardOverrides;
}
