/** The plain Kubernetes objects of an agent: what a developer would write by hand, with nothing of the platform but a protocol label. */

import { annotations, labels } from '../runtime/api/names.ts';
import type { AgentProps } from './agent-props.ts';

type Json = Readonly<Record<string, unknown>>;

/** Props whose name is decided. */
export type NamedAgentProps = AgentProps & { readonly name: string };

/** What an agent is besides its props. */
export interface AgentShape {
  readonly defaultProtocols: readonly string[];
  /** Name of the port: the platform finds an agent's card at the port named `a2a`. */
  readonly portName: string;
}

const defaultPort = 8080;

const defaultResources = { requests: { cpu: '100m', memory: '128Mi' }, limits: { memory: '512Mi' } } as const;

/** Labels that select the agent's pods, in the workload and in its Service: fixed, never from a construct's path. */
export function agentSelector({ name }: NamedAgentProps): Readonly<Record<string, string>> {
  return { 'app.kubernetes.io/name': name };
}

/** Labels of the workload and its pods. Protocol labels count by existence, hence the empty value. */
export function agentLabels(props: NamedAgentProps, shape: AgentShape): Readonly<Record<string, string>> {
  const protocols = (props.protocols ?? shape.defaultProtocols).map((name) => [`${labels.protocolPrefix}${name}`, '']);
  return { ...props.labels, ...agentSelector(props), ...Object.fromEntries(protocols) };
}

/** Annotations of the workload: the skills it declares, where it declares any. What is no list of texts is the AgentRuntime's to refuse. */
export function agentAnnotations({ runtime }: AgentProps): Readonly<Record<string, string>> | undefined {
  const skills: unknown = runtime?.skills;
  if (!Array.isArray(skills) || !skills.every((skill) => typeof skill === 'string')) return undefined;
  return { [annotations.skills]: JSON.stringify(skills) };
}

/** Account of the agent's pods. */
export function agentAccount({ serviceAccountName, name }: NamedAgentProps): string {
  return serviceAccountName ?? name;
}

/** `spec` of the Deployment or StatefulSet. */
export function agentWorkloadSpec(props: NamedAgentProps, shape: AgentShape): Json {
  const { name, kind = 'Deployment', replicas } = props;
  return {
    ...(replicas === undefined ? {} : { replicas }),
    ...(kind === 'StatefulSet' ? { serviceName: name } : {}),
    selector: { matchLabels: agentSelector(props) },
    template: { metadata: { labels: agentLabels(props, shape) }, spec: podSpec(props, shape) },
  };
}

/** `spec` of the Service: the pods' own labels, the agent's own port. */
export function agentServiceSpec(props: NamedAgentProps, { portName }: AgentShape): Json {
  const port = props.port ?? defaultPort;
  return {
    selector: agentSelector(props),
    ports: [{ name: portName, port, targetPort: portName, protocol: 'TCP', appProtocol: 'http' }],
  };
}

/** Passes Pod Security "restricted". */
function podSpec(props: NamedAgentProps, shape: AgentShape): Json {
  const { user } = props;
  return {
    serviceAccountName: agentAccount(props),
    automountServiceAccountToken: false,
    securityContext: {
      runAsNonRoot: true,
      ...(user === undefined ? {} : { runAsUser: user, runAsGroup: user, fsGroup: user }),
      seccompProfile: { type: 'RuntimeDefault' },
    },
    containers: [container(props, shape)],
    volumes: [{ name: 'tmp', emptyDir: {} }],
  };
}

function container(props: NamedAgentProps, { portName }: AgentShape): Json {
  const {
    image,
    command,
    args,
    env = {},
    envFromSecrets = [],
    port = defaultPort,
    resources = defaultResources,
  } = props;
  const envFrom = envFromSecrets.map((name) => ({ secretRef: { name } }));
  return {
    name: 'agent',
    image,
    imagePullPolicy: props.imagePullPolicy ?? 'IfNotPresent',
    ...(command === undefined ? {} : { command }),
    ...(args === undefined ? {} : { args }),
    env: Object.entries({ PORT: String(port), ...env }).map(([key, value]) => ({ name: key, value })),
    ...(envFrom.length === 0 ? {} : { envFrom }),
    ports: [{ name: portName, containerPort: port, protocol: 'TCP' }],
    resources,
    securityContext: {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: !(props.writableRoot ?? false),
      capabilities: { drop: ['ALL'] },
    },
    ...probes(props, portName),
    volumeMounts: [{ name: 'tmp', mountPath: '/tmp' }],
  };
}

/** A slow start is not an error for two minutes; afterwards an agent that does not answer gets no traffic, and is never killed for it. */
function probes({ healthPath }: AgentProps, port: string): Json {
  const check = healthPath === undefined ? { tcpSocket: { port } } : { httpGet: { path: healthPath, port } };
  return {
    startupProbe: { ...check, periodSeconds: 2, failureThreshold: 60 },
    readinessProbe: { ...check, periodSeconds: 10, timeoutSeconds: 3, failureThreshold: 3 },
  };
}
