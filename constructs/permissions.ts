/** Every permission of the operator: the sum of what each feature declares beside its code. */

import { permissions as agentRuntimePermissions } from '../runtime/agent-runtime/permissions.ts';
import { authBridgePermissions } from '../runtime/authbridge/permissions.ts';
import type { Permission } from '../runtime/engine/types.ts';
import { operatorPermissions as processPermissions } from '../runtime/operator/permissions.ts';
import { permissions as validationPermissions } from '../runtime/validation/permissions.ts';

/** What the API server must allow the operator, and why. */
export const operatorPermissions: readonly Permission[] = [
  ...processPermissions,
  ...agentRuntimePermissions,
  ...validationPermissions,
  ...authBridgePermissions,
];
