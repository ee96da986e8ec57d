/** The Pod Security Standard "restricted" as tables of fields: its own rules and those of "baseline", which it contains. */

import { listOf, recordOf } from './pods.ts';

/** A field that may be left out and may only have certain values. */
export interface LimitedField {
  readonly rule: string;
  /** Whose field: the pod's, each container's, or either's. */
  readonly of: 'pod' | 'container' | 'both';
  /** Below the pod's spec or the container; `*` stands for each item of a list. */
  readonly path: string;
  readonly allowed: (value: unknown) => boolean;
  readonly remedy: string;
}

const only =
  (...values: readonly unknown[]) =>
  (value: unknown) =>
    values.includes(value);
const leaveOut = 'leave it out';

const handlers = ['livenessProbe', 'readinessProbe', 'startupProbe', 'lifecycle.postStart', 'lifecycle.preStop'];
const hosts = handlers.flatMap((handler) => [`${handler}.httpGet.host`, `${handler}.tcpSocket.host`]);

const safeSysctls = [
  'kernel.shm_rmid_forced',
  'net.ipv4.ip_local_port_range',
  'net.ipv4.ip_local_reserved_ports',
  'net.ipv4.ip_unprivileged_port_start',
  'net.ipv4.ping_group_range',
  'net.ipv4.tcp_fin_timeout',
  'net.ipv4.tcp_keepalive_intvl',
  'net.ipv4.tcp_keepalive_probes',
  'net.ipv4.tcp_keepalive_time',
  'net.ipv4.tcp_rmem',
  'net.ipv4.tcp_syncookies',
  'net.ipv4.tcp_wmem',
];
const seLinuxTypes = ['', 'container_t', 'container_init_t', 'container_kvm_t', 'container_engine_t'];
const volumeTypes = [
  'configMap',
  'csi',
  'downwardAPI',
  'emptyDir',
  'ephemeral',
  'image',
  'persistentVolumeClaim',
  'projected',
  'secret',
];

const runtimeProfiles = only('RuntimeDefault', 'Localhost');
const runtimeProfile = 'write RuntimeDefault or Localhost';
const context = (field: string) => `securityContext.${field}`;

/** What may be left out. */
export const limitedFields: readonly LimitedField[] = [
  ...['hostNetwork', 'hostPID', 'hostIPC'].map(
    (path): LimitedField => ({ rule: 'Host Namespaces', of: 'pod', path, allowed: only(false), remedy: leaveOut }),
  ),
  {
    rule: 'HostProcess',
    of: 'both',
    path: context('windowsOptions.hostProcess'),
    allowed: only(false),
    remedy: leaveOut,
  },
  {
    rule: 'Privileged Containers',
    of: 'container',
    path: context('privileged'),
    allowed: only(false),
    remedy: leaveOut,
  },
  {
    rule: 'Capabilities',
    of: 'container',
    path: context('capabilities.add.*'),
    allowed: only('NET_BIND_SERVICE'),
    remedy: `${leaveOut}; only NET_BIND_SERVICE may be added`,
  },
  {
    rule: 'Volume Types',
    of: 'pod',
    path: 'volumes.*',
    allowed: (volume) => Object.keys(recordOf(volume)).every((key) => key === 'name' || volumeTypes.includes(key)),
    remedy: `use one of ${volumeTypes.join(', ')}`,
  },
  {
    rule: 'Host Ports',
    of: 'container',
    path: 'ports.*.hostPort',
    allowed: only(0),
    remedy: `${leaveOut}; a Service reaches the pod`,
  },
  ...hosts.map(
    (path): LimitedField => ({
      rule: 'Host Probes / Lifecycle Hooks',
      of: 'container',
      path,
      allowed: only(''),
      remedy: `${leaveOut}: the pod's own address is asked`,
    }),
  ),
  {
    rule: 'AppArmor',
    of: 'both',
    path: context('appArmorProfile.type'),
    allowed: runtimeProfiles,
    remedy: runtimeProfile,
  },
  {
    rule: 'SELinux',
    of: 'both',
    path: context('seLinuxOptions.type'),
    allowed: only(...seLinuxTypes),
    remedy: `leave it out or use one of ${seLinuxTypes.filter((type) => type !== '').join(', ')}`,
  },
  ...['user', 'role'].map(
    (field): LimitedField => ({
      rule: 'SELinux',
      of: 'both',
      path: context(`seLinuxOptions.${field}`),
      allowed: only(''),
      remedy: leaveOut,
    }),
  ),
  { rule: '/proc Mount Type', of: 'container', path: context('procMount'), allowed: only('Default'), remedy: leaveOut },
  {
    rule: 'Sysctls',
    of: 'pod',
    path: context('sysctls.*.name'),
    allowed: only(...safeSysctls),
    remedy: `${leaveOut}; the safe ones are ${safeSysctls.join(', ')}`,
  },
  {
    rule: 'Seccomp',
    of: 'both',
    path: context('seccompProfile.type'),
    allowed: runtimeProfiles,
    remedy: runtimeProfile,
  },
  { rule: 'Running as Non-root', of: 'both', path: context('runAsNonRoot'), allowed: only(true), remedy: 'write true' },
  {
    rule: 'Running as Non-root user',
    of: 'both',
    path: context('runAsUser'),
    allowed: (value) => value !== 0,
    remedy: 'leave it out or use another user than root',
  },
];

/** A field that each container must have, or the pod for all of them. */
export interface NeededField {
  readonly rule: string;
  readonly path: string;
  readonly has: (value: unknown) => boolean;
  /** Whether the pod may say it for its containers. */
  readonly byPod: boolean;
  /** Whether it is no field of Windows pods. */
  readonly linuxOnly: boolean;
  readonly remedy: string;
}

const isSet = (value: unknown) => value !== undefined && value !== null;

/** What must be there. */
export const neededFields: readonly NeededField[] = [
  {
    rule: 'Privilege Escalation',
    path: context('allowPrivilegeEscalation'),
    has: only(false),
    byPod: false,
    linuxOnly: true,
    remedy: 'write false',
  },
  {
    rule: 'Capabilities',
    path: context('capabilities.drop'),
    has: (value) => listOf(value).includes('ALL'),
    byPod: false,
    linuxOnly: true,
    remedy: 'write [ALL]',
  },
  {
    rule: 'Seccomp',
    path: context('seccompProfile.type'),
    has: isSet,
    byPod: true,
    linuxOnly: true,
    remedy: `${runtimeProfile} here or on the pod`,
  },
  {
    rule: 'Running as Non-root',
    path: context('runAsNonRoot'),
    has: isSet,
    byPod: true,
    linuxOnly: false,
    remedy: 'write true here or on the pod',
  },
];
