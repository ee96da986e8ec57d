/** The volumes of what is injected and where they are mounted: every mount has its volume, every volume a mount. */

import path from 'node:path/posix';
import type { Volume, VolumeMount } from '../api/kubernetes.ts';
import { spiffeCsiDriver } from '../config/components.ts';
import type { PlatformConfig } from '../config/platform.ts';
import { volumeNames } from '../config/volume-names.ts';
import type { Build } from './build.ts';

export const mountPaths = {
  /** Where iptables keeps its lock. */
  run: '/run',
  /** Sockets and generated configuration of the proxy. */
  work: '/run/rossoctl',
  svid: '/etc/rossoctl/svid',
  credentials: '/etc/rossoctl/credentials',
  adminCredentials: '/etc/rossoctl/admin-credentials',
} as const;

/** A volume with the containers' view of it. */
export interface Mounted {
  readonly volume: Volume;
  readonly mount: VolumeMount;
}

/** Scratch space of proxy-init, whose root is read-only. */
export const runDirectory: Mounted = scratch(volumeNames.run, mountPaths.run, '1Mi');
/** Scratch space of envoy-proxy. */
export const workDirectory: Mounted = scratch(volumeNames.work, mountPaths.work, '16Mi');
/** Where spiffe-helper writes certificates. An application reads them by declaring this very emptyDir itself and mounting it. */
export const svidDirectory: Mounted = scratch(volumeNames.svid, mountPaths.svid, '4Mi');

/** The Workload API socket: only where SPIFFE is on. A host path that is missing is made, so that no pod waits for it. */
export function spiffeSocket({ socketPath, volume }: PlatformConfig['spiffe']): Mounted {
  const directory = path.dirname(socketPath.replace(/^unix:\/\//, ''));
  const name = volumeNames.spiffeSocket;
  return {
    volume:
      volume === 'csi'
        ? { name, csi: { driver: spiffeCsiDriver, readOnly: true } }
        : { name, hostPath: { path: directory, type: 'DirectoryOrCreate' } },
    mount: { name, mountPath: directory, readOnly: true },
  };
}

/**
 * The OAuth client credentials as seen by their reader: the Secret the operator fills, mounted as a whole directory so that rotation arrives,
 * and optional so that no pod waits for it; or, with `clientRegistration.mode: sidecar`, what that container writes.
 */
export function credentials({ effective, credentialsSecret }: Build): Mounted {
  if (effective.config.clientRegistration.mode === 'sidecar') {
    const { volume, mount } = writtenCredentials;
    return { volume, mount: { ...mount, readOnly: true } };
  }
  return {
    volume: { name: credentialsSecret, secret: { secretName: credentialsSecret, optional: true } },
    mount: { name: credentialsSecret, mountPath: mountPaths.credentials, readOnly: true },
  };
}

/** The credentials as seen by client-registration, which writes them. */
export const writtenCredentials: Mounted = scratch(volumeNames.credentials, mountPaths.credentials, '1Mi');

/** Keycloak's admin credentials, for client-registration alone; undefined when the configuration names none. */
export function adminCredentials({ adminCredentialsSecret }: PlatformConfig['identity']): Mounted | undefined {
  if (adminCredentialsSecret === '') return undefined;
  const name = volumeNames.adminCredentials;
  return {
    volume: { name, secret: { secretName: adminCredentialsSecret, optional: true } },
    mount: { name, mountPath: mountPaths.adminCredentials, readOnly: true },
  };
}

/** In memory: keys and tokens never reach a disk. */
function scratch(name: string, mountPath: string, sizeLimit: string): Mounted {
  return { volume: { name, emptyDir: { medium: 'Memory', sizeLimit } }, mount: { name, mountPath } };
}
