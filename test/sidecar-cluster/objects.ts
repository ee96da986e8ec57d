/** Workloads and Services of the tests as their owners write them: they know nothing of any sidecar. */

import type { Written } from '../support/workload-objects.ts';

/** Built from this checkout; it has Node, so it runs the tests' own programs as well. */
export const sidecarImage = 'lab.local/rossoctl-sidecar:test';

export interface App {
  readonly namespace: string;
  readonly name: string;
  /** Arguments of Node. */
  readonly program: readonly string[];
  /** Default: the sidecar's own, which has Node. */
  readonly image?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly readinessProbe?: object;
}

/** One pod that runs a program in the container `app`, which may serve at port 8080. */
export function deployment({ namespace, name, program, image = sidecarImage, env = {}, readinessProbe }: App): Written {
  const app = {
    name: 'app',
    image,
    imagePullPolicy: 'IfNotPresent',
    command: ['/usr/bin/node', ...program],
    env: Object.entries(env).map(([key, value]) => ({ name: key, value })),
    ports: [{ name: 'http', containerPort: 8080 }],
    securityContext: {
      runAsNonRoot: true,
      runAsUser: 1000,
      allowPrivilegeEscalation: false,
      capabilities: { drop: ['ALL'] },
      seccompProfile: { type: 'RuntimeDefault' },
    },
    ...(readinessProbe === undefined ? {} : { readinessProbe }),
  };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { namespace, name },
    spec: {
      replicas: 1,
      selector: { matchLabels: { app: name } },
      template: {
        metadata: { labels: { app: name } },
        spec: { terminationGracePeriodSeconds: 1, containers: [app] },
      },
    },
  };
}

export interface ServiceParts {
  readonly name?: string;
  /** Open at the node as well. */
  readonly nodePort?: number;
  /** Default 8080. */
  readonly targetPort?: string;
}

/** Port 8080 of an app's pods, under the app's name or another. */
export function service(namespace: string, app: string, more: ServiceParts = {}) {
  const { name = app, nodePort, targetPort = 8080 } = more;
  const port = { name: 'http', port: 8080, targetPort, ...(nodePort === undefined ? {} : { nodePort }) };
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { namespace, name },
    spec: { type: nodePort === undefined ? 'ClusterIP' : 'NodePort', selector: { app }, ports: [port] },
  } satisfies Written;
}
