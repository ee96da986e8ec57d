/** A workload, its pods, and Services around it. */

import type { Container, EndpointSlice, Pod, Service, ServicePort } from '../../../runtime/api/kubernetes.ts';
import { deployment, type WorkloadFacts } from './workload-fixture.ts';

export { deployment, type WorkloadFacts };

export interface ServiceFacts {
  readonly ports?: readonly ServicePort[];
  /** Default `10.96.0.7`; `None`: headless. */
  readonly clusterIP?: string;
  readonly type?: string;
  /** Value of annotation `rossoctl.io/port`. */
  readonly port?: string;
  readonly selector?: Readonly<Record<string, string>>;
  readonly namespace?: string;
}

export function service(name: string, facts: ServiceFacts = {}): Service {
  const { ports = [], clusterIP = '10.96.0.7', type, port, selector = { app: 'weather' }, namespace = 'team1' } = facts;
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name, namespace, ...(port === undefined ? {} : { annotations: { 'rossoctl.io/port': port } }) },
    spec: { ports, clusterIP, selector, ...(type === undefined ? {} : { type }) },
  };
}

export interface PodFacts {
  readonly ready?: 'True' | 'False';
  /** Of its one container. */
  readonly ports?: Container['ports'];
  readonly initContainers?: readonly Container[];
}

export function pod(name: string, ips: readonly string[], facts: PodFacts = {}): Pod {
  const [podIP] = ips;
  const { ready = 'True', ports = [], initContainers = [] } = facts;
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'team1' },
    spec: { initContainers, containers: [{ name: 'agent', ports }] },
    status: {
      conditions: [{ type: 'Ready', status: ready }],
      ...(podIP === undefined ? {} : { podIP }),
      ...(ips.length > 1 ? { podIPs: ips.map((ip) => ({ ip })) } : {}),
    },
  };
}

export function slice(of: string, facts: Partial<EndpointSlice> = {}): EndpointSlice {
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { name: `${of}-x`, namespace: 'team1', labels: { 'kubernetes.io/service-name': of } },
    addressType: 'IPv4',
    ...facts,
  };
}
