/** The proxy container: captured or explicit traffic, tokens, mutual TLS, and the pod's SPIFFE identity. */

import type { ContainerPort, Probe } from '../api/kubernetes.ts';
import { containers } from '../api/names.ts';
import type { Build } from './build.ts';
import { literals, sidecarEnv } from './env.ts';
import { portRoles, type Ports } from './ports.ts';
import { sidecarSecurity } from './security.ts';
import { type Sidecar, sidecar } from './sidecar.ts';
import { credentials, mountPaths, spiffeSocket, workDirectory } from './volumes.ts';

/** The startup probe holds back the user's containers until the proxy takes traffic; without it they would start into a closed door. */
export function envoyProxy(build: Build): Sidecar {
  const { effective, components, ports, probes, explicit, nativeSidecars } = build;
  const { config } = effective;
  const hasCredentials = components.credentials.inject;
  return sidecar(
    {
      name: containers.envoyProxy,
      image: config.images.envoyProxy,
      imagePullPolicy: config.images.pullPolicy,
      args: [containers.envoyProxy],
      env: [
        ...sidecarEnv(build),
        ...literals({
          OUTBOUND_PORT: ports.outbound,
          INBOUND_PORT: ports.inbound,
          ADMIN_PORT: ports.admin,
          HEALTH_PORT: ports.health,
          APPLICATION_PORT: explicit?.applicationPort ?? '',
          OUTBOUND_PROXY: explicit?.isOutbound === false ? 'off' : '',
          PROBES: probes.length === 0 ? '' : JSON.stringify(probes),
          CREDENTIALS_DIR: hasCredentials ? mountPaths.credentials : '',
        }),
      ],
      ports: declaredPorts(ports),
      resources: config.resources.envoyProxy,
      securityContext: sidecarSecurity(config.proxy.uid),
      terminationMessagePolicy: 'FallbackToLogsOnError',
      startupProbe: probe('/readyz', ports.health, { periodSeconds: 1, failureThreshold: 120 }),
      livenessProbe: probe('/healthz', ports.health, { periodSeconds: 10, failureThreshold: 3 }),
      readinessProbe: probe('/readyz', ports.health, { periodSeconds: 5, failureThreshold: 3 }),
      ...(nativeSidecars ? { restartPolicy: 'Always' } : {}),
    },
    [
      workDirectory,
      ...(components.spiffe.inject ? [spiffeSocket(config.spiffe)] : []),
      ...(hasCredentials ? [credentials(build)] : []),
    ],
  );
}

/** Prefixed names: a Service that names a port of the application must never find ours. */
function declaredPorts(ports: Ports): readonly ContainerPort[] {
  const names = {
    outbound: 'rossoctl-out',
    inbound: 'rossoctl-in',
    admin: 'rossoctl-admin',
    health: 'rossoctl-health',
  };
  return portRoles.map((role) => ({ name: names[role], containerPort: ports[role], protocol: 'TCP' }));
}

/** An HTTP probe on the health port. */
export function probe(path: string, port: number, timing: Pick<Probe, 'periodSeconds' | 'failureThreshold'>): Probe {
  return { httpGet: { path, port }, timeoutSeconds: 2, ...timing };
}
