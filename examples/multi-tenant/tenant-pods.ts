/** What a tenant's pods may not take of the node and of other tenants: Pod Security "baseline", but for what the platform itself injects. */

import type { BoundaryProps, Rule, Subject } from './boundary.ts';

/** What the platform team leaves to pods of tenants. */
export interface TenantPodsProps {
  /** Image of the platform's init container, which alone may change how its pod's network is filtered. */
  readonly proxyInit: string;
  /**
   * Priority classes that tenants may use, with the cluster's default one where it has one.
   * @default none
   */
  readonly priorityClasses?: readonly string[];
}

/** Pods, and everything that makes some from a template. */
const subjects: readonly Subject[] = [
  { apiGroup: '', apiVersion: 'v1', resources: ['pods', 'pods/ephemeralcontainers', 'replicationcontrollers'] },
  { apiGroup: 'apps', apiVersion: 'v1', resources: ['deployments', 'statefulsets', 'daemonsets', 'replicasets'] },
  { apiGroup: 'batch', apiVersion: 'v1', resources: ['jobs', 'cronjobs'] },
];

/** Where each kind keeps a pod's spec; the last is that of all others. */
const places: readonly (readonly [kind: string, path: string])[] = [
  ['Pod', 'spec'],
  ['CronJob', 'spec.jobTemplate.spec.template.spec'],
  ['', 'spec.template.spec'],
];

/** CEL that has for each kind what `of` makes of its path. */
function byKind(of: (path: string) => string): string {
  return places
    .map(([kind, path]) => (kind === '' ? of(path) : `request.kind.kind == "${kind}" ? ${of(path)} : `))
    .join('');
}

const specOf = (object: string) => byKind((path) => `dyn(${object}).?${path.replaceAll('.', '.?')}.orValue({})`);

const variables = [
  { name: 'at', expression: byKind((path) => `"${path}"`) },
  { name: 'now', expression: specOf('object') },
  { name: 'before', expression: `oldObject == null ? dyn({}) : dyn(${specOf('oldObject')})` },
  // What was there before the policy can still be scaled, labelled and let go of.
  { name: 'pod', expression: 'variables.now == variables.before ? dyn({}) : dyn(variables.now)' },
  {
    name: 'containers',
    expression: ['containers', 'initContainers', 'ephemeralContainers']
      .map((list) => `variables.pod.?${list}.orValue([])`)
      .join(' + '),
  },
];

const list = (values: readonly string[]) => `[${values.map((value) => JSON.stringify(value)).join(', ')}]`;

/** Those of Pod Security "baseline". */
const capabilities = list(
  'AUDIT_WRITE CHOWN DAC_OVERRIDE FOWNER FSETID KILL MKNOD NET_BIND_SERVICE SETFCAP SETGID SETPCAP SETUID SYS_CHROOT'.split(
    ' ',
  ),
);
const sysctls = list([
  'kernel.shm_rmid_forced',
  ...['local_port_range', 'local_reserved_ports', 'unprivileged_port_start'].map((name) => `net.ipv4.ip_${name}`),
  'net.ipv4.ping_group_range',
  ...['fin_timeout', 'keepalive_intvl', 'keepalive_probes', 'keepalive_time', 'rmem', 'syncookies', 'wmem'].map(
    (name) => `net.ipv4.tcp_${name}`,
  ),
]);
const seLinuxTypes = list(['', 'container_t', 'container_init_t', 'container_kvm_t', 'container_engine_t']);

/** What the platform tells its init container, and nothing that would change which program runs in it. */
const told = list(
  'PROXY_PORT INBOUND_PROXY_PORT ADMIN_PORT HEALTH_PORT PROXY_UID OUTBOUND_PORTS_EXCLUDE INBOUND_PORTS_EXCLUDE'.split(
    ' ',
  ),
);

/** All that the platform's init container has. What else a container can have runs a program in it, now or in a later Kubernetes. */
const keys = list(
  'name image imagePullPolicy args env resources securityContext volumeMounts terminationMessagePath terminationMessagePolicy'.split(
    ' ',
  ),
);

/** CEL: the container `c` runs the platform's own program with nothing of the tenant's in it. */
function isProxyInit(image: string): string {
  return [
    `c.name == "proxy-init" && c.image == ${JSON.stringify(image)} && c.all(key, key in ${keys})`,
    'c.?args.orValue([]) == ["proxy-init"]',
    `c.?env.orValue([]).all(e, e.name in ${told})`,
    'c.?volumeMounts.orValue([]).all(m, m.mountPath == "/run" || m.mountPath.matches("^/var/run/secrets/[a-z.]+/serviceaccount$"))',
  ].join(' && ');
}

const handlers = ['livenessProbe', 'readinessProbe', 'startupProbe', 'lifecycle.?postStart', 'lifecycle.?preStop'];
const noHost = (action: string) => `h.?${action}.?host.orValue("") == ""`;

/** A row a field: what holds for a pod's spec `p`. */
const podRows = ({
  priorityClasses = [],
}: TenantPodsProps): readonly (readonly [field: string, holds: string, remedy: string])[] => [
  ...['hostNetwork', 'hostPID', 'hostIPC'].map(
    (field) => [field, `!p.?${field}.orValue(false)`, 'leave it out'] as const,
  ),
  ['volumes.hostPath', 'p.?volumes.orValue([]).all(v, !has(v.hostPath))', 'use an emptyDir or a PersistentVolumeClaim'],
  // The scheduler sets it later.
  ['nodeName', '!has(p.nodeName) || has(variables.before.nodeName)', 'leave it to the scheduler, or use nodeSelector'],
  [
    'priorityClassName',
    `p.?priorityClassName.orValue("") in ${list(['', ...priorityClasses])}`,
    priorityClasses.length === 0 ? 'leave it out' : `leave it out, or use ${priorityClasses.join(' or ')}`,
  ],
  [
    'securityContext.sysctls',
    `p.?securityContext.?sysctls.orValue([]).all(s, s.name in ${sysctls})`,
    'leave it out but for those that Kubernetes calls safe',
  ],
];

/** A row a field below `securityContext`, the pod's or a container's: what holds for such a section `s`. */
const contextRows: readonly (readonly [field: string, holds: string, remedy: string])[] = [
  ['windowsOptions.hostProcess', '!s.?windowsOptions.?hostProcess.orValue(false)', 'leave it out'],
  ['seccompProfile.type', 's.?seccompProfile.?type.orValue("") != "Unconfined"', 'write RuntimeDefault'],
  ['appArmorProfile.type', 's.?appArmorProfile.?type.orValue("") != "Unconfined"', 'write RuntimeDefault'],
  [
    'seLinuxOptions',
    `s.?seLinuxOptions.?type.orValue("") in ${seLinuxTypes} && s.?seLinuxOptions.?user.orValue("") == "" && s.?seLinuxOptions.?role.orValue("") == ""`,
    'leave it out',
  ],
];

/** A row a field: what holds for a container `c` of whatever list. */
const containerRows = ({
  proxyInit,
}: TenantPodsProps): readonly (readonly [field: string, holds: string, remedy: string])[] => [
  ['securityContext.privileged', '!c.?securityContext.?privileged.orValue(false)', 'leave it out'],
  [
    'securityContext.capabilities.add',
    `c.?securityContext.?capabilities.?add.orValue([]).all(a, a in ${capabilities} || (a in ["NET_ADMIN", "NET_RAW"] && ${isProxyInit(proxyInit)}))`,
    'leave out what Pod Security "baseline" does not allow',
  ],
  ['securityContext.procMount', 'c.?securityContext.?procMount.orValue("Default") == "Default"', 'leave it out'],
  [
    'ports.hostPort',
    'c.?ports.orValue([]).all(p, p.?hostPort.orValue(0) == 0)',
    'leave it out: a Service reaches the pod',
  ],
  [
    'host of a probe or hook',
    `[${handlers.map((handler) => `c.?${handler}`).join(', ')}].all(h, ${noHost('httpGet')} && ${noHost('tcpSocket')})`,
    'leave it out: the pod’s own address is asked',
  ],
];

const refusal = 'a tenant’s pods take nothing of the node and push nobody aside';

function podRules(props: TenantPodsProps): readonly Rule[] {
  const sentence = (field: string, remedy: string) => `${field}: ${refusal}: ${remedy}`;
  return [
    ...podRows(props).map(([field, holds, remedy]): Rule => {
      const said = sentence(field, remedy);
      return [`[variables.pod].all(p, ${holds})`, said, `variables.at + ${JSON.stringify(`.${said}`)}`];
    }),
    ...contextRows.map(([field, holds, remedy]): Rule => {
      const sections = '([variables.pod] + variables.containers).map(each, dyn(each.?securityContext.orValue({})))';
      const said = sentence(`securityContext.${field}`, remedy);
      return [
        `${sections}.all(s, ${holds})`,
        said,
        `variables.at + ${JSON.stringify(` or a container of it, ${said}`)}`,
      ];
    }),
    ...containerRows(props).map(([field, holds, remedy]): Rule => {
      const breakers = `variables.containers.filter(c, !(${holds})).map(c, string(c.name)).join(", ")`;
      const said = sentence(field, remedy);
      const message = `variables.at + ", container " + ${breakers} + ${JSON.stringify(`, ${said}`)}`;
      return [`variables.containers.all(c, ${holds})`, said, message];
    }),
  ];
}

/** The policies `tenant-pods` and `tenant-services`. */
export function podBoundaries(props: TenantPodsProps): readonly BoundaryProps[] {
  return [
    {
      name: 'tenant-pods',
      subjects,
      operations: ['CREATE', 'UPDATE'],
      when: 'true',
      variables,
      rules: podRules(props),
    },
    {
      // An address of a node or of the whole cluster could be another tenant's; a name of another's Service passes its network policies.
      name: 'tenant-services',
      subjects: [{ apiGroup: '', apiVersion: 'v1', resources: ['services'] }],
      operations: ['CREATE', 'UPDATE'],
      when: 'oldObject == null || object.spec != oldObject.spec',
      rules: [
        [
          'object.spec.?type.orValue("ClusterIP") == "ClusterIP"',
          'spec.type: what is reached from outside, or is a name for something else, is the platform team’s to make: use ClusterIP',
        ],
        [
          'object.spec.?externalIPs.orValue([]).size() == 0',
          'spec.externalIPs: traffic to such an address would be taken from whoever has it: leave it out',
        ],
      ],
    },
  ];
}
