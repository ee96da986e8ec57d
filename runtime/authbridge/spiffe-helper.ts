/** The container that fetches the pod's SPIFFE identity where no proxy does. */

import { containers } from '../api/names.ts';
import type { Build } from './build.ts';
import { literals, sidecarEnv } from './env.ts';
import { probe } from './envoy-proxy.ts';
import { sidecarSecurity } from './security.ts';
import { type Sidecar, sidecar } from './sidecar.ts';
import { mountPaths, spiffeSocket, svidDirectory } from './volumes.ts';

/** No startup probe: a pod must not wait for an identity that is late. */
export function spiffeHelper(build: Build): Sidecar {
  const { effective, ports, nativeSidecars } = build;
  const { config } = effective;
  return sidecar(
    {
      name: containers.spiffeHelper,
      image: config.images.sidecar,
      imagePullPolicy: config.images.pullPolicy,
      args: [containers.spiffeHelper],
      env: [...sidecarEnv(build), ...literals({ HEALTH_PORT: ports.health, SVID_DIR: mountPaths.svid })],
      ports: [{ name: 'rossoctl-health', containerPort: ports.health, protocol: 'TCP' }],
      resources: config.resources.spiffeHelper,
      securityContext: sidecarSecurity(config.proxy.uid),
      terminationMessagePolicy: 'FallbackToLogsOnError',
      livenessProbe: probe('/healthz', ports.health, { periodSeconds: 10, failureThreshold: 3 }),
      ...(nativeSidecars ? { restartPolicy: 'Always' } : {}),
    },
    [spiffeSocket(config.spiffe), svidDirectory],
  );
}
