/** The objects that cluster tests of enrolment create: the reports' `D0` and `R0`, and the platform's ConfigMap. */

import type { AgentRuntime } from '../../runtime/api/agent-runtime.ts';
import type { Deployment } from '../../runtime/api/kubernetes.ts';
import { annotations, apiVersion, configMaps, install } from '../../runtime/api/names.ts';
import { defaultsHash } from '../../runtime/config/config-hash.ts';

/** `D0` with the given number of replicas. */
export function deployment(
  namespace: string,
  name = 'weather-agent',
  more: {
    readonly replicas?: number;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly serviceAccount?: string;
  } = {},
): Deployment {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: {
      namespace,
      name,
      labels: { app: name, ...more.labels },
      ...(more.annotations === undefined ? {} : { annotations: more.annotations }),
    },
    spec: {
      replicas: more.replicas ?? 1,
      selector: { matchLabels: { app: name } },
      template: podTemplate(name, more.serviceAccount),
    },
  };
}

/** Carries our marker and a container of ours, so that pods look as if the webhook, which is not here, had injected them. */
export function podTemplate(name: string, serviceAccount?: string, more: Readonly<Record<string, unknown>> = {}) {
  return {
    metadata: {
      labels: { app: name },
      annotations: { [annotations.injected]: 'envoy-proxy', [annotations.defaultsHash]: defaultsHash },
    },
    spec: {
      initContainers: [{ name: 'envoy-proxy', image: 'example.test/envoy-proxy:1', restartPolicy: 'Always' as const }],
      containers: [{ name: 'agent', image: 'example.test/weather:1', ports: [{ containerPort: 8080 }] }],
      ...(serviceAccount === undefined ? {} : { serviceAccountName: serviceAccount }),
      ...more,
    },
  };
}

/** `R0`. */
export function agentRuntime(
  namespace: string,
  name = 'weather',
  spec: Partial<AgentRuntime['spec']> = {},
): AgentRuntime {
  return {
    apiVersion,
    kind: 'AgentRuntime',
    metadata: { namespace, name },
    spec: { type: 'agent', targetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'weather-agent' }, ...spec },
  };
}

export function platformConfig(text: string) {
  const { name, key } = configMaps.platform;
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { namespace: install.namespace, name },
    data: { [key]: text },
  };
}
