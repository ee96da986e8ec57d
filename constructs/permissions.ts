/** Every permission of the operator: the sum of what each feature declares beside its code. */

import type { Permission } from '../runtime/engine/types.ts';

/** What the API server must allow the operator, and why. */
export const operatorPermissions: readonly Permission[] = [];
