/** What each plain prop of `AgentPlatform` must look like; an environment's settings are checked by the same rows. */

import { Type, type TSchema } from 'typebox';
import { oneOf } from '../runtime/api/schema.ts';
import { Image } from '../runtime/config/platform.ts';
import type { AgentPlatformProps } from './agent-platform-props.ts';
import { installSchemas } from './installs.ts';
import { ImagePullPolicy, NamespaceName, ObjectName } from './prop-schemas.ts';
import { Resources } from './resource-quantities.ts';
import { verificationSchemas } from './verification.ts';

const optional = Type.Optional;

/** A row a prop, but for those that have checks of their own: what is watched, configuration and feature gates. */
export const platformPropSchemas = {
  image: Image,
  imagePullPolicy: optional(ImagePullPolicy),
  imagePullSecrets: optional(Type.Array(ObjectName, { maxItems: 16 })),
  namespace: optional(NamespaceName),
  createNamespace: optional(Type.Boolean()),
  serviceAccountName: optional(ObjectName),
  deploymentName: optional(ObjectName),
  requireNamespaceLabel: optional(Type.Boolean()),
  certificates: optional(oneOf(['self-managed', 'cert-manager'])),
  replicas: optional(Type.Integer({ minimum: 1, maximum: 100 })),
  resources: optional(Resources),
  priorityClassName: optional(ObjectName),
  logLevel: optional(oneOf(['debug', 'info', 'warn', 'error'])),
  apiRequests: optional(
    Type.Object({
      qps: optional(Type.Number({ minimum: 1, maximum: 10000 })),
      burst: optional(Type.Number({ minimum: 1, maximum: 10000 })),
    }),
  ),
  ...installSchemas,
  ...verificationSchemas,
} as const satisfies Readonly<Record<keyof Omit<AgentPlatformProps, 'watch' | 'config' | 'featureGates'>, TSchema>>;

/** Every prop; those with checks of their own may be any section here. */
export const AgentPlatformSchema = Type.Object({
  ...platformPropSchemas,
  watch: optional(Type.Unsafe<unknown>({ type: 'object' })),
  config: optional(Type.Unsafe<unknown>({ type: 'object' })),
  featureGates: optional(Type.Unsafe<unknown>({ type: 'object' })),
});
