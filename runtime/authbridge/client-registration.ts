/** The container that registers the workload as an OAuth client, where the operator does not do it. */

import { containers } from '../api/names.ts';
import type { Build } from './build.ts';
import { literals, sidecarEnv } from './env.ts';
import { sidecarSecurity } from './security.ts';
import { type Sidecar, sidecar } from './sidecar.ts';
import { adminCredentials, mountPaths, spiffeSocket, writtenCredentials } from './volumes.ts';

/** Admin credentials reach this container alone, as files and never as environment. */
export function clientRegistration(build: Build): Sidecar {
  const { effective, components, clientId, nativeSidecars } = build;
  const { config } = effective;
  const admin = adminCredentials(config.identity);
  return sidecar(
    {
      name: containers.clientRegistration,
      image: config.images.sidecar,
      imagePullPolicy: config.images.pullPolicy,
      args: [containers.clientRegistration],
      env: [
        ...sidecarEnv(build),
        ...literals({
          CLIENT_ID: clientId,
          CREDENTIALS_DIR: mountPaths.credentials,
          ADMIN_CREDENTIALS_DIR: mountPaths.adminCredentials,
        }),
      ],
      resources: config.resources.clientRegistration,
      securityContext: sidecarSecurity(config.proxy.uid),
      ...(nativeSidecars ? { restartPolicy: 'Always' } : {}),
    },
    [
      writtenCredentials,
      ...(admin === undefined ? [] : [admin]),
      ...(components.spiffe.inject ? [spiffeSocket(config.spiffe)] : []),
    ],
  );
}
