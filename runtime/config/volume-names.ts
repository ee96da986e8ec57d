/** The names of the volumes that come with what is injected, and whether a pod has one of its own under such a name. */

import type { PodSpec } from '../api/kubernetes.ts';
import { containers } from '../api/names.ts';
import type { Components } from './components.ts';
import type { PlatformConfig } from './platform.ts';

/** Prefixed, so that no volume of a user is met by accident. The credentials Secret's volume bears the Secret's name. */
export const volumeNames = {
  run: 'rossoctl-run',
  work: 'rossoctl-work',
  spiffeSocket: 'rossoctl-spiffe-socket',
  svid: 'rossoctl-svid',
  credentials: 'rossoctl-credentials',
  adminCredentials: 'rossoctl-admin-credentials',
} as const;

/** Those of one injection. The builders add these very ones, which a test holds. */
export function volumeNamesOf(
  { containers: chosen, spiffe, credentials }: Components,
  { identity, clientRegistration }: PlatformConfig,
  credentialsSecret: string,
): readonly string[] {
  const has = (name: keyof Components['containers']) => chosen[name].inject;
  const hasProxy = has(containers.envoyProxy);
  const registers = has(containers.clientRegistration);
  const read = clientRegistration.mode === 'sidecar' ? volumeNames.credentials : credentialsSecret;
  const rows: readonly (readonly [name: string, isAdded: boolean])[] = [
    [volumeNames.run, has(containers.proxyInit)],
    [volumeNames.work, hasProxy],
    [volumeNames.spiffeSocket, has(containers.spiffeHelper) || (spiffe.inject && (hasProxy || registers))],
    [volumeNames.svid, has(containers.spiffeHelper)],
    [read, hasProxy && credentials.inject],
    [volumeNames.credentials, registers],
    [volumeNames.adminCredentials, registers && identity.adminCredentialsSecret !== ''],
  ];
  return [...new Set(rows.filter(([, isAdded]) => isAdded).map(([name]) => name))];
}

/**
 * A volume of the pod's own under one of our names, or a container of it that mounts one of ours: it would read the client's secret, or answer in
 * Envoy's place. The certificates alone are to be had: an application shares them by an emptyDir of its own named `rossoctl-svid`. Templates cannot
 * mount what they do not declare, so the mounts concern bare pods.
 */
export function volumeTaken(
  spec: PodSpec,
  names: readonly string[],
): { readonly reason: 'VolumeNameTaken'; readonly note: string } | undefined {
  const note = declaredNote(spec, names) ?? mountedNote(spec, names);
  return note === undefined ? undefined : { reason: 'VolumeNameTaken', note };
}

function declaredNote({ volumes = [] }: PodSpec, names: readonly string[]): string | undefined {
  const taken = volumes.find(({ name, emptyDir }) => names.includes(name) && !(name === volumeNames.svid && emptyDir));
  return (
    taken && `the pod has a volume of its own named ${taken.name}, which is the name of an injected one; rename it`
  );
}

function mountedNote(spec: PodSpec, names: readonly string[]): string | undefined {
  for (const list of ['initContainers', 'containers'] as const) {
    for (const [at, { name, volumeMounts }] of (spec[list] ?? []).entries()) {
      const mount =
        volumeMounts?.findIndex((each) => each.name !== volumeNames.svid && names.includes(each.name)) ?? -1;
      if (mount < 0) continue;
      return `container ${name} mounts ${volumeMounts?.[mount]?.name} (spec.${list}[${at}].volumeMounts[${mount}]), an injected volume that only injected containers may see; take the mount out, or give the container a volume of its own`;
    }
  }
  return undefined;
}
