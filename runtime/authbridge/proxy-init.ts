/** The init container that redirects the pod's traffic into the proxy. */

import { containers } from '../api/names.ts';
import type { Build } from './build.ts';
import { literals } from './env.ts';
import { proxyInitSecurity } from './security.ts';
import { type Sidecar, sidecar } from './sidecar.ts';
import { runDirectory } from './volumes.ts';

/** Ports that must stay reachable as they are (health, admin) are told by number; excluded ones come from the pod's annotations. */
export function proxyInit({ effective: { config }, ports, exclusions }: Build): Sidecar {
  return sidecar(
    {
      name: containers.proxyInit,
      image: config.images.proxyInit,
      imagePullPolicy: config.images.pullPolicy,
      args: [containers.proxyInit],
      env: literals({
        PROXY_PORT: ports.outbound,
        INBOUND_PROXY_PORT: ports.inbound,
        ADMIN_PORT: ports.admin,
        HEALTH_PORT: ports.health,
        PROXY_UID: config.proxy.uid,
        OUTBOUND_PORTS_EXCLUDE: exclusions.outbound.join(','),
        INBOUND_PORTS_EXCLUDE: exclusions.inbound.join(','),
      }),
      resources: config.resources.proxyInit,
      securityContext: proxyInitSecurity,
      terminationMessagePolicy: 'FallbackToLogsOnError',
    },
    [runDirectory],
  );
}
