/** The schema of an environment's settings: `config: rossoctl:platform` of `stacks/Pulumi.<environment>.yaml`. */

import { Type } from 'typebox';
import { platformPropSchemas } from '../constructs/agent-platform-schema.ts';
import type { NamespaceConfig } from '../constructs/index.ts';
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
  requireImageDigest: optional(Type.Boolean({ description: 'Refuse an operator image that is not pinned by digest.' })),
  mode: optional(
    oneOf(['cluster', 'namespaced'], {
      description: 'namespaced: the operator sees only `namespaces`; default cluster.',
    }),
  ),
  namespaces: optional(Type.Array(NamespaceSettings, { maxItems: 256 })),
  config: optional(Type.Unsafe<PartialConfig>(PlatformConfig)),
  featureGates: optional(Type.Unsafe<Partial<FeatureGates>>(FeatureGates)),
});
export type PlatformSettings = Type.Static<typeof PlatformSettings>;
