/** The security contexts of what is injected: Pod Security "restricted" for sidecars, two capabilities for proxy-init. */

import type { SecurityContext } from '../api/kubernetes.ts';

/**
 * Of the long-running sidecars, all under one uid: what one writes the others may read, without `fsGroup` and so without any change to
 * the pod's own settings. Explicit throughout, so that a pod-level setting of the application changes nothing here.
 */
export function sidecarSecurity(uid: number): SecurityContext {
  return {
    runAsUser: uid,
    runAsGroup: uid,
    runAsNonRoot: true,
    privileged: false,
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ['ALL'] },
    seccompProfile: { type: 'RuntimeDefault' },
  };
}

/** Of proxy-init, which writes packet filter rules: root with the two capabilities that takes, and nothing else. Never privileged. */
export const proxyInitSecurity: SecurityContext = Object.freeze({
  runAsUser: 0,
  runAsGroup: 0,
  runAsNonRoot: false,
  privileged: false,
  allowPrivilegeEscalation: false,
  readOnlyRootFilesystem: true,
  capabilities: { drop: ['ALL'], add: ['NET_ADMIN', 'NET_RAW'] },
  seccompProfile: { type: 'RuntimeDefault' },
});
