/** The schema of an environment's settings: `config: rossoctl:platform` of `stacks/Pulumi.<environment>.yaml`. */

import { Type } from 'typebox';
import type { NamespaceConfig } from '../constructs/index.ts';
import { oneOf, stringMap } from '../runtime/api/schema.ts';
import { FeatureGates } from '../runtime/config/feature-gates.ts';
import { type PartialConfig, PlatformConfig } from '../runtime/config/platform.ts';

const Name = Type.String({ minLength: 1, maxLength: 63, description: 'Name of a Kubernetes object.' });
const Quantities = stringMap({ maxProperties: 16, maxLength: 32 });
const optional = Type.Optional;

/** One namespace for agents. */
const NamespaceSettings = Type.Object({
  name: Name,
  create: optional(Type.Boolean({ description: 'Make the Namespace object; default true.' })),
  defaults: optional(Type.Unsafe<NamespaceConfig>(PlatformConfig)),
});

/** Props of the platform that an environment may set, and its namespaces. Absent: the construct's default. */
export const PlatformSettings = Type.Object({
  image: optional(Type.String({ minLength: 1, maxLength: 512, description: 'Image of the operator.' })),
  requireImageDigest: optional(Type.Boolean({ description: 'Refuse an operator image that is not pinned by digest.' })),
  imagePullPolicy: optional(oneOf(['Always', 'IfNotPresent', 'Never'])),
  imagePullSecrets: optional(Type.Array(Name, { maxItems: 16 })),
  namespace: optional(Name),
  createNamespace: optional(Type.Boolean()),
  serviceAccountName: optional(Name),
  deploymentName: optional(Name),
  mode: optional(
    oneOf(['cluster', 'namespaced'], {
      description: 'namespaced: the operator sees only `namespaces`; default cluster.',
    }),
  ),
  namespaces: optional(Type.Array(NamespaceSettings, { maxItems: 256 })),
  requireNamespaceLabel: optional(Type.Boolean()),
  certificates: optional(oneOf(['self-managed', 'cert-manager'])),
  replicas: optional(Type.Integer({ minimum: 1, maximum: 100 })),
  resources: optional(Type.Object({ requests: Quantities, limits: Quantities })),
  priorityClassName: optional(Name),
  logLevel: optional(oneOf(['debug', 'info', 'warn', 'error'])),
  apiRequests: optional(
    Type.Object({
      qps: optional(Type.Number({ minimum: 1, maximum: 10000 })),
      burst: optional(Type.Number({ minimum: 1, maximum: 10000 })),
    }),
  ),
  config: optional(Type.Unsafe<PartialConfig>(PlatformConfig)),
  featureGates: optional(Type.Unsafe<Partial<FeatureGates>>(FeatureGates)),
});
export type PlatformSettings = Type.Static<typeof PlatformSettings>;
