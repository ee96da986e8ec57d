/** A pod that passes "restricted", and for each rule pods that break it and no other. */

/** Loose enough to spoil any field. */
export type PodSpec = Record<string, unknown> & { readonly containers: readonly Record<string, unknown>[] };

const restrictedContext = {
  allowPrivilegeEscalation: false,
  capabilities: { drop: ['ALL'] },
  runAsNonRoot: true,
  seccompProfile: { type: 'RuntimeDefault' },
};

/** A container that passes by itself, with more or other fields. */
export const container = (fields: object = {}, context: object = {}) => ({
  name: 'main',
  image: 'registry.example/a:1',
  securityContext: { ...restrictedContext, ...context },
  ...fields,
});

/** A pod of one such container, with more or other fields. */
export const pod = (fields: object = {}): PodSpec => ({ containers: [container()], ...fields });

const withContext = (context: object) => pod({ securityContext: context });
const withContainer = (fields: object, context: object = {}) => pod({ containers: [container(fields, context)] });
const http = (host: string) => ({ httpGet: { host, port: 80 } });
const tcp = (host: string) => ({ tcpSocket: { host, port: 80 } });

/** A pod that breaks one rule. */
export interface Breaking {
  readonly rule: string;
  /** The field, below the pod's spec. */
  readonly path: string;
  readonly spec: PodSpec;
  /** No API server takes such a pod in any namespace, unless it breaks another rule as well. */
  readonly impossible?: true;
  /** On the pod. */
  readonly annotations?: Readonly<Record<string, string>>;
}

const atContainer = 'containers[0].securityContext';

export const breaking: readonly Breaking[] = [
  { rule: 'Host Namespaces', path: 'hostNetwork', spec: pod({ hostNetwork: true }) },
  { rule: 'Host Namespaces', path: 'hostPID', spec: pod({ hostPID: true }) },
  { rule: 'Host Namespaces', path: 'hostIPC', spec: pod({ hostIPC: true }) },
  {
    rule: 'HostProcess',
    path: 'securityContext.windowsOptions.hostProcess',
    impossible: true,
    spec: withContext({ windowsOptions: { hostProcess: true } }),
  },
  {
    rule: 'HostProcess',
    path: `${atContainer}.windowsOptions.hostProcess`,
    impossible: true,
    spec: withContainer({}, { windowsOptions: { hostProcess: true } }),
  },
  {
    rule: 'Privileged Containers',
    path: `${atContainer}.privileged`,
    impossible: true,
    spec: withContainer({}, { privileged: true }),
  },
  {
    rule: 'Capabilities',
    path: `${atContainer}.capabilities.add[1]`,
    spec: withContainer({}, { capabilities: { drop: ['ALL'], add: ['NET_BIND_SERVICE', 'NET_ADMIN'] } }),
  },
  {
    rule: 'Capabilities',
    path: `${atContainer}.capabilities.drop`,
    spec: withContainer({}, { capabilities: { drop: ['NET_RAW'] } }),
  },
  { rule: 'Capabilities', path: `${atContainer}.capabilities.drop`, spec: withContainer({}, { capabilities: {} }) },
  {
    rule: 'Volume Types',
    path: 'volumes[1]',
    spec: pod({
      volumes: [
        { name: 'good', emptyDir: {} },
        { name: 'bad', hostPath: { path: '/var' } },
      ],
    }),
  },
  {
    rule: 'Volume Types',
    path: 'volumes[0]',
    spec: pod({ volumes: [{ name: 'bad', nfs: { server: 'a', path: '/b' } }] }),
  },
  {
    rule: 'Host Ports',
    path: 'containers[0].ports[1].hostPort',
    spec: withContainer({ ports: [{ containerPort: 80 }, { containerPort: 81, hostPort: 81 }] }),
  },
  ...['livenessProbe', 'readinessProbe', 'startupProbe'].flatMap((probe): readonly Breaking[] => [
    {
      rule: 'Host Probes / Lifecycle Hooks',
      path: `containers[0].${probe}.httpGet.host`,
      spec: withContainer({ [probe]: http('10.0.0.1') }),
    },
    {
      rule: 'Host Probes / Lifecycle Hooks',
      path: `containers[0].${probe}.tcpSocket.host`,
      spec: withContainer({ [probe]: tcp('10.0.0.1') }),
    },
  ]),
  ...['postStart', 'preStop'].map(
    (hook): Breaking => ({
      rule: 'Host Probes / Lifecycle Hooks',
      path: `containers[0].lifecycle.${hook}.httpGet.host`,
      spec: withContainer({ lifecycle: { [hook]: http('10.0.0.1') } }),
    }),
  ),
  {
    rule: 'AppArmor',
    path: 'securityContext.appArmorProfile.type',
    spec: withContext({ appArmorProfile: { type: 'Unconfined' } }),
  },
  {
    rule: 'AppArmor',
    path: `${atContainer}.appArmorProfile.type`,
    spec: withContainer({}, { appArmorProfile: { type: 'Unconfined' } }),
  },
  {
    rule: 'AppArmor',
    path: 'annotations["container.apparmor.security.beta.kubernetes.io/main"]',
    annotations: { 'container.apparmor.security.beta.kubernetes.io/main': 'unconfined' },
    spec: pod(),
  },
  {
    rule: 'SELinux',
    path: 'securityContext.seLinuxOptions.type',
    spec: withContext({ seLinuxOptions: { type: 'spc_t' } }),
  },
  {
    rule: 'SELinux',
    path: `${atContainer}.seLinuxOptions.user`,
    spec: withContainer({}, { seLinuxOptions: { user: 'u' } }),
  },
  {
    rule: 'SELinux',
    path: `${atContainer}.seLinuxOptions.role`,
    spec: withContainer({}, { seLinuxOptions: { role: 'r' } }),
  },
  {
    rule: '/proc Mount Type',
    path: `${atContainer}.procMount`,
    // The API server takes it only in a user namespace of the pod's own.
    spec: pod({ hostUsers: false, containers: [container({}, { procMount: 'Unmasked' })] }),
  },
  {
    rule: 'Sysctls',
    path: 'securityContext.sysctls[1].name',
    spec: withContext({
      sysctls: [
        { name: 'net.ipv4.tcp_syncookies', value: '1' },
        { name: 'kernel.msgmax', value: '1' },
      ],
    }),
  },
  {
    rule: 'Seccomp',
    path: 'securityContext.seccompProfile.type',
    spec: withContext({ seccompProfile: { type: 'Unconfined' } }),
  },
  {
    rule: 'Seccomp',
    path: `${atContainer}.seccompProfile.type`,
    spec: withContainer({}, { seccompProfile: { type: 'Unconfined' } }),
  },
  {
    rule: 'Seccomp',
    path: `${atContainer}.seccompProfile.type`,
    spec: withContainer({}, { seccompProfile: undefined }),
  },
  { rule: 'Running as Non-root', path: 'securityContext.runAsNonRoot', spec: withContext({ runAsNonRoot: false }) },
  {
    rule: 'Running as Non-root',
    path: `${atContainer}.runAsNonRoot`,
    spec: pod({
      securityContext: { runAsNonRoot: true },
      containers: [container({}, { runAsNonRoot: false })],
    }),
  },
  {
    rule: 'Running as Non-root',
    path: `${atContainer}.runAsNonRoot`,
    spec: withContainer({}, { runAsNonRoot: undefined }),
  },
  { rule: 'Running as Non-root user', path: 'securityContext.runAsUser', spec: withContext({ runAsUser: 0 }) },
  { rule: 'Running as Non-root user', path: `${atContainer}.runAsUser`, spec: withContainer({}, { runAsUser: 0 }) },
  // Some clusters let go of these in a user namespace; others do not, and manifests do not know where they go.
  {
    rule: 'Running as Non-root user',
    path: `${atContainer}.runAsUser`,
    spec: pod({ hostUsers: false, containers: [container({}, { runAsUser: 0 })] }),
  },
  {
    rule: 'Running as Non-root',
    path: `${atContainer}.runAsNonRoot`,
    spec: pod({ hostUsers: false, containers: [container({}, { runAsNonRoot: false })] }),
  },
  {
    rule: 'Privilege Escalation',
    path: `${atContainer}.allowPrivilegeEscalation`,
    spec: withContainer({}, { allowPrivilegeEscalation: true }),
  },
  {
    rule: 'Privilege Escalation',
    path: `${atContainer}.allowPrivilegeEscalation`,
    spec: withContainer({}, { allowPrivilegeEscalation: undefined }),
  },
  {
    rule: 'Privilege Escalation',
    path: 'initContainers[0].securityContext.allowPrivilegeEscalation',
    spec: pod({ initContainers: [container({ name: 'first' }, { allowPrivilegeEscalation: true })] }),
  },
];

/** Pods that pass, each by what is said elsewhere or by what is allowed besides. */
export const passing: Readonly<Record<string, PodSpec>> = {
  'each container says it': pod(),
  'the pod says it for its containers': pod({
    securityContext: { runAsNonRoot: true, seccompProfile: { type: 'Localhost', localhostProfile: 'a.json' } },
    containers: [container({}, { runAsNonRoot: undefined, seccompProfile: undefined })],
  }),
  'every value that is allowed besides': pod({
    hostNetwork: false,
    securityContext: {
      appArmorProfile: { type: 'RuntimeDefault' },
      seLinuxOptions: { type: 'container_t' },
      sysctls: [{ name: 'net.ipv4.tcp_rmem', value: '1 2 3' }],
      runAsUser: 1000,
    },
    containers: [
      container(
        { ports: [{ containerPort: 80 }], livenessProbe: tcp(''), lifecycle: { preStop: http('') } },
        { privileged: false, procMount: 'Default', capabilities: { drop: ['ALL'], add: ['NET_BIND_SERVICE'] } },
      ),
    ],
    volumes: [{ name: 'a', emptyDir: {} }, { name: 'b' }, { name: 'c', secret: { secretName: 'c' } }],
  }),
  'Windows, where some fields do not exist': pod({
    os: { name: 'windows' },
    containers: [container({ securityContext: { runAsNonRoot: true } })],
  }),
};
