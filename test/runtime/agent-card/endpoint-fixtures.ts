/** A workload, its pods, and Services around it; and how a row of a table about them is checked. */

import assert from 'node:assert/strict';
import { endpointOf, type Surroundings } from '../../../runtime/agent-card/endpoint.ts';
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
  /** Default: those of the workload's template. */
  readonly labels?: Readonly<Record<string, string>>;
}

export function pod(name: string, ips: readonly string[], facts: PodFacts = {}): Pod {
  const [podIP] = ips;
  const { ready = 'True', ports = [], initContainers = [], labels = { app: 'weather' } } = facts;
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'team1', labels },
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

/** Ready, of no declared port. */
export const pods: readonly Pod[] = [pod('weather-1', ['10.1.0.1']), pod('weather-2', ['10.1.0.2'])];

export interface Row extends Partial<Omit<Surroundings, 'slicesOf'>> {
  readonly what: string;
  readonly slices?: readonly ReturnType<typeof slice>[];
  /** `address:port host`, or the reason. */
  readonly is: string;
  readonly via?: string;
  readonly says?: RegExp;
}

export function expectEndpoint({ is, via, says, slices = [], ...around }: Row): void {
  const result = endpointOf({ workload: deployment(), services: [], pods, slicesOf: () => slices, ...around });
  const [first] = 'found' in result ? result.found : [];
  const told = 'reason' in result ? result.reason : `${first?.address}:${first?.port} ${first?.host}`;
  assert.equal(told, is);
  if (via !== undefined) assert.equal(first?.via, via);
  if (says !== undefined) assert.match('found' in result ? '' : result.message, says);
}
