/** What a tenant writes, and what it may not write into a pod, a template or a Service, with how that is refused. */

import type { Container, Pod, PodSpec } from '../../runtime/api/kubernetes.ts';
import type { Json } from '../policy-cluster/kube.ts';
import { changed, envWith, withSpec } from '../runtime/authbridge/injected-pods.ts';
import { injectedPod } from '../runtime/authbridge/fixtures.ts';

export function runtime(name: string, identity: Json = {}): Json {
  const targetRef = { apiVersion: 'apps/v1', kind: 'Deployment', name };
  return {
    apiVersion: 'agent.rossoctl.dev/v1alpha1',
    kind: 'AgentRuntime',
    metadata: { name },
    spec: { type: 'agent', targetRef, ...(Object.keys(identity).length === 0 ? {} : { identity }) },
  };
}

const targetRef = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'weather' };
/** One that would verify agents of another trust domain. */
export const card: Json = {
  apiVersion: 'agent.rossoctl.dev/v1alpha1',
  kind: 'AgentCard',
  metadata: { name: 'weather' },
  spec: { targetRef, identityBinding: { trustDomain: 'borealis.example', strict: false } },
};

export function configMap(name: string, labels: Readonly<Record<string, string>> = {}): Json {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, labels }, data: { 'config.yaml': '{}' } };
}

const spec = (given: Json = {}, container: Json = {}): Json => ({
  containers: [{ name: 'agent', image: 'registry.example/weather:1', ...container }],
  ...given,
});
const metadata = { name: 'weather' };
const labels = { app: 'weather' };

export const podOf = (given?: Json, container?: Json): Json => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata,
  spec: spec(given, container),
});

export const deploymentOf = (name: string, given?: Json, container?: Json): Json => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name },
  spec: {
    replicas: 0,
    selector: { matchLabels: labels },
    template: { metadata: { labels }, spec: spec(given, container) },
  },
});

const cronJob: Json = {
  apiVersion: 'batch/v1',
  kind: 'CronJob',
  metadata,
  spec: {
    schedule: '0 0 * * *',
    jobTemplate: { spec: { template: { spec: spec({ hostPID: true, restartPolicy: 'Never' }) } } },
  },
};

const security = (given: Json): Json => ({ securityContext: given });

/** A pod's own fields, a container's, and what the refusal says. */
const podRows: readonly (readonly [given: Json, container: Json, says: RegExp])[] = [
  [{ hostNetwork: true }, {}, /spec\.hostNetwork: .* leave it out/],
  [{ hostPID: true }, {}, /spec\.hostPID: /],
  [{ hostIPC: true }, {}, /spec\.hostIPC: /],
  [{ volumes: [{ name: 'root', hostPath: { path: '/' } }] }, {}, /spec\.volumes\.hostPath: .* use an emptyDir/],
  [{ nodeName: 'node-1' }, {}, /spec\.nodeName: .* leave it to the scheduler/],
  [{ priorityClassName: 'system-node-critical' }, {}, /spec\.priorityClassName: .* leave it out/],
  [security({ sysctls: [{ name: 'kernel.msgmax', value: '1' }] }), {}, /securityContext\.sysctls: /],
  [security({ seccompProfile: { type: 'Unconfined' } }), {}, /seccompProfile\.type: .* write RuntimeDefault/],
  [{}, security({ seccompProfile: { type: 'Unconfined' } }), /seccompProfile\.type: /],
  [{}, security({ appArmorProfile: { type: 'Unconfined' } }), /appArmorProfile\.type: /],
  [{}, security({ seLinuxOptions: { type: 'spc_t' } }), /seLinuxOptions: /],
  [{}, security({ seLinuxOptions: { user: 'sysadm_u' } }), /seLinuxOptions: /],
  [{}, security({ privileged: true }), /spec, container agent, securityContext\.privileged: .* leave it out/],
  [{}, security({ capabilities: { add: ['SYS_ADMIN'] } }), /container agent, securityContext\.capabilities\.add: /],
  [{}, security({ capabilities: { add: ['NET_ADMIN'] } }), /capabilities\.add: /],
  [{ hostUsers: false }, security({ procMount: 'Unmasked' }), /procMount: /],
  [{}, { ports: [{ containerPort: 80, hostPort: 80 }] }, /ports\.hostPort: .* a Service reaches the pod/],
  [{}, { readinessProbe: { httpGet: { port: 80, host: '127.0.0.1' } } }, /host of a probe or hook: /],
  [{}, { lifecycle: { preStop: { tcpSocket: { port: 80, host: '127.0.0.1' } } } }, /host of a probe or hook: /],
  [
    { initContainers: [{ name: 'first', image: 'registry.example/first:1', ...security({ privileged: true }) }] },
    {},
    /container first, securityContext\.privileged/,
  ],
];

export const serviceOf = (given: Json): Json => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata,
  spec: { ports: [{ port: 80 }], selector: labels, ...given },
});

const core = '/api/v1/namespaces/atlas';
const apps = '/apis/apps/v1/namespaces/atlas';

/** Where it is created, what, and what the refusal says. */
export const refusedRows: readonly (readonly [url: string, body: Json, says: RegExp])[] = [
  ...podRows.map(([given, container, says]) => [`${core}/pods`, podOf(given, container), says] as const),
  [`${apps}/deployments`, deploymentOf('weather', { hostNetwork: true }), /spec\.template\.spec\.hostNetwork: /],
  [
    `${apps}/deployments`,
    deploymentOf('weather', {}, security({ privileged: true })),
    /spec\.template\.spec, container agent, securityContext\.privileged: /,
  ],
  ['/apis/batch/v1/namespaces/atlas/cronjobs', cronJob, /spec\.jobTemplate\.spec\.template\.spec\.hostPID: /],
  ...(['NodePort', 'LoadBalancer'] as const).map(
    (type) => [`${core}/services`, serviceOf({ type }), /spec\.type: .* use ClusterIP/] as const,
  ),
  [
    `${core}/services`,
    serviceOf({ type: 'ExternalName', externalName: 'agents.borealis.svc' }),
    /spec\.type: .* use ClusterIP/,
  ],
  [`${core}/services`, serviceOf({ externalIPs: ['192.0.2.1'] }), /spec\.externalIPs: .* leave it out/],
];

/** What a tenant runs: with any Service inside the cluster, and any capability that "baseline" allows. */
export const admittedRows: readonly (readonly [url: string, body: Json])[] = [
  [`${core}/services`, serviceOf({})],
  [`${core}/services`, serviceOf({ clusterIP: 'None' })],
  [`${core}/pods`, podOf({}, security({ capabilities: { add: ['NET_BIND_SERVICE'] } }))],
  [`${apps}/deployments`, deploymentOf('weather')],
];

/** As the webhook leaves a pod. */
export const injected: Pod = injectedPod();

const withInit = (change: object | ((container: Container) => object)) => changed('proxy-init', change);
const asOf = (make: (spec: PodSpec) => Partial<PodSpec>) => withSpec(make);

/** An injected pod that a tenant wrote, with something of its own in the container that may change the pod's network. */
export const forgedRows: readonly (readonly [title: string, pod: Pod])[] = [
  ['another image', withInit({ image: 'registry.example/proxy-init:0.1.0' })],
  ['a command', withInit({ command: ['sh'] })],
  ['other arguments', withInit({ args: ['sh'] })],
  ['a variable', withInit(envWith('LD_PRELOAD', '/run/mine.so'))],
  ['variables of a Secret', withInit({ envFrom: [{ secretRef: { name: 'mine' } }] })],
  ['a mount', withInit({ volumeMounts: [{ name: 'rossoctl-run', mountPath: '/usr/bin' }] })],
  [
    'a mount that leads elsewhere',
    withInit({ volumeMounts: [{ name: 'rossoctl-run', mountPath: '/var/run/secrets/../../../bin/serviceaccount' }] }),
  ],
  ['a directory of its own', withInit({ workingDir: '/run' })],
  ['a probe that runs a command', withInit({ restartPolicy: 'Always', startupProbe: { exec: { command: ['sh'] } } })],
  [
    'a hook that runs a command',
    withInit({ restartPolicy: 'Always', lifecycle: { postStart: { exec: { command: ['sh'] } } } }),
  ],
  ['a further capability', withInit({ securityContext: { capabilities: { add: ['NET_ADMIN', 'SYS_ADMIN'] } } })],
  [
    'another name',
    asOf(({ initContainers = [] }) => ({
      initContainers: initContainers.map((each) => (each.name === 'proxy-init' ? { ...each, name: 'mine' } : each)),
    })),
  ],
];
