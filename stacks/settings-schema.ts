/** The schemas of an environment's settings: the sections below `config` of `stacks/Pulumi.<environment>.yaml`. */

import { Type } from 'typebox';
import { platformPropSchemas } from '../constructs/agent-platform-schema.ts';
import { AgentPropsSchema } from '../constructs/agent-schema.ts';
import type { AgentProps, NamespaceConfig } from '../constructs/index.ts';
import { NamespaceName } from '../constructs/prop-schemas.ts';
import { oneOf } from '../runtime/api/schema.ts';
import { FeatureGates } from '../runtime/config/feature-gates.ts';
import { type PartialConfig, PlatformConfig } from '../runtime/config/platform.ts';

const optional = Type.Optional;

/** One namespace for agents. */
const NamespaceSettings = Type.Object({
  name: NamespaceName,
  create: optional(Type.Boolean({ description: 'Make the Namespace object; default true.' })),
  defaults: optional(Type.Unsafe<NamespaceConfig>(PlatformConfig)),
});

/** Props of the platform that an environment may set, and its namespaces. Absent: the construct's default. */
export const PlatformSettings = Type.Object({
  ...platformPropSchemas,
  image: optional(platformPropSchemas.image),
  requireImageDigest: optional(
    Type.Boolean({
      description:
        'Refuse images that are not pinned by digest: the operator’s, those in `config.images` and those of the agents; default false.',
    }),
  ),
  mode: optional(
    oneOf(['cluster', 'namespaced'], {
      description: 'namespaced: the operator sees only `namespaces`; default cluster.',
    }),
  ),
  namespaces: optional(
    Type.Array(NamespaceSettings, {
      maxItems: 256,
      description: 'Namespaces of agents: with `mode: namespaced` the only ones that are watched.',
    }),
  ),
  config: optional(Type.Unsafe<PartialConfig>(PlatformConfig)),
  featureGates: optional(Type.Unsafe<Partial<FeatureGates>>(FeatureGates)),
});

/** One agent or tool of the layer: the props of the construct, but for what its place in the file says. */
const { name: _name, namespace: _namespace, ...agentPropSchemas } = AgentPropsSchema.properties;
type AgentSettings = Omit<AgentProps, 'name' | 'namespace'>;
const byName = (description: string) =>
  optional(
    Type.Unsafe<Readonly<Record<string, AgentSettings>>>({
      type: 'object',
      maxProperties: 10_000,
      description,
      additionalProperties: Type.Object(agentPropSchemas),
    }),
  );

/** A team's layer: `config: rossoctl:agents`. */
export const AgentsSettings = Type.Object({
  platform: Type.String({
    minLength: 1,
    maxLength: 512,
    pattern: '^[A-Za-z0-9][-A-Za-z0-9_.]*(/[A-Za-z0-9][-A-Za-z0-9_.]*){0,2}$',
    description: 'Environment whose platform these agents run on, for example dev; to Pulumi its stack.',
  }),
  namespace: Type.String({ ...NamespaceName, description: 'Namespace of all of them, which exists already.' }),
  agents: byName('Agents: name → props of `Agent`.'),
  tools: byName('Tools: name → props of `Tool`.'),
});
export type AgentsSettings = Type.Static<typeof AgentsSettings>;

/** How Pulumi reaches the cluster, and how it treats what is there: `config: rossoctl:cluster`. */
export const ClusterSettings = Type.Object({
  context: optional(
    Type.String({
      minLength: 1,
      maxLength: 253,
      description: 'Context of the kubeconfig; default: its current one.',
    }),
  ),
  kubeconfig: optional(
    Type.String({
      minLength: 1,
      maxLength: 4096,
      description: 'Path of the kubeconfig; default: KUBECONFIG, else ~/.kube/config.',
    }),
  ),
  identifier: optional(
    Type.String({
      minLength: 1,
      maxLength: 253,
      description:
        'Name of the cluster: as long as it stays, another kubeconfig replaces nothing. Default: that of the stack.',
    }),
  ),
  providerVersion: optional(
    Type.String({
      pattern: '^\\d+\\.\\d+\\.\\d+(-[0-9A-Za-z.-]+)?$',
      maxLength: 64,
      description:
        'Release of the Kubernetes provider, for example 4.34.2; default: that of the installed @pulumi/kubernetes.',
    }),
  ),
  adopt: optional(Type.Boolean({ description: 'Take over objects that exist already; default false.' })),
  await: optional(
    Type.Boolean({
      description: 'Wait until workloads run, webhooks can be called and AgentRuntimes are Ready; default true.',
    }),
  ),
});
export type ClusterSettings = Type.Static<typeof ClusterSettings>;
export type PlatformSettings = Type.Static<typeof PlatformSettings>;
