/** Every permission of the operator: the sum of what each feature declares beside its code. */

import { permissions as agentCardPermissions, trustBundlePermissions } from '../runtime/agent-card/permissions.ts';
import { permissions as agentCardSyncPermissions } from '../runtime/agent-card-sync/permissions.ts';
import { permissions as agentRuntimePermissions } from '../runtime/agent-runtime/permissions.ts';
import { authBridgePermissions } from '../runtime/authbridge/permissions.ts';
import type { Permission } from '../runtime/engine/types.ts';
import {
  madeCertificatePermissions,
  mountedCertificatePermissions,
  removalPermissions,
  operatorPermissions as processPermissions,
} from '../runtime/operator/permissions.ts';
import { permissions as networkPolicyPermissions } from '../runtime/network-policy/permissions.ts';
import { permissions as validationPermissions } from '../runtime/validation/permissions.ts';
import type { CertificateSource } from './certificates.ts';

/** The parts of an install that ask for rights of their own. */
export interface Grants {
  /** Name of the operator's Deployment. */
  readonly deploymentName: string;
  /** Which of several installs it is. */
  readonly instance?: string | undefined;
  readonly certificates: CertificateSource;
  readonly requireSignature: boolean;
  /** ConfigMap with the authorities that may sign; read only where signatures are required. */
  readonly trustBundle: { readonly namespace: string; readonly name: string };
  /** Whether NetworkPolicies are kept. */
  readonly networkPolicies: boolean;
}

/**
 * What the API server must allow the operator, and why. An operator that is handed its certificate needs no Secret, one that verifies nothing
 * no trust bundle, and one that leaves the network alone no NetworkPolicy.
 */
export function operatorPermissions(grants: Grants): readonly Permission[] {
  const { deploymentName, instance, certificates, requireSignature, trustBundle, networkPolicies } = grants;
  return [
    ...processPermissions,
    ...removalPermissions(deploymentName),
    ...(certificates === 'self-managed' ? madeCertificatePermissions : mountedCertificatePermissions)(instance),
    ...agentRuntimePermissions,
    ...agentCardPermissions,
    ...(requireSignature ? trustBundlePermissions(trustBundle.namespace, trustBundle.name) : []),
    ...agentCardSyncPermissions,
    ...(networkPolicies ? networkPolicyPermissions : []),
    ...validationPermissions,
    ...authBridgePermissions,
  ];
}
