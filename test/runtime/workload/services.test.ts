/** Services and EndpointSlices: what is kept of them, and how those of a workload are found. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EndpointSlice, Pod, Service } from '../../../runtime/api/kubernetes.ts';
import type { KubeObject, Reader, Watch, Where } from '../../../runtime/engine/types.ts';
import { selects, servicesOf, slicesOf } from '../../../runtime/workload/services.ts';
import { endpointSlices, enrolledPods, services } from '../../../runtime/workload/watches.ts';
import { workload } from './workloads.ts';

const whole = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: {
    name: 'weather',
    namespace: 'team1',
    uid: 'u',
    resourceVersion: '7',
    generation: 3,
    labels: { large: 'x' },
    annotations: { 'rossoctl.io/port': '8080', other: 'large' },
    managedFields: [{ manager: 'kubectl' }],
  },
  spec: {
    type: 'ClusterIP',
    clusterIP: '10.96.0.7',
    clusterIPs: ['10.96.0.7'],
    selector: { b: '2', a: '1' },
    ports: [{ name: '', port: 80, targetPort: 'web', protocol: 'TCP', nodePort: 30_000 }, { port: 81 }],
    sessionAffinity: 'None',
  },
  status: { loadBalancer: {} },
} as Service;

test('of a Service is kept whom it reaches, and where', () => {
  assert.deepEqual(services.keep?.(whole), {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: {
      name: 'weather',
      namespace: 'team1',
      uid: 'u',
      resourceVersion: '7',
      annotations: { 'rossoctl.io/port': '8080' },
    },
    spec: {
      type: 'ClusterIP',
      clusterIP: '10.96.0.7',
      selector: { b: '2', a: '1' },
      ports: [{ port: 80, targetPort: 'web', protocol: 'TCP' }, { port: 81 }],
    },
  });
  const bare = { apiVersion: 'v1', kind: 'Service', metadata: { name: 'bare' } };
  assert.deepEqual(services.keep?.(bare), { ...bare, spec: {} });
  assert.deepEqual(services.indexes?.['selector']?.(whole), ['a=1']);
  assert.deepEqual(services.indexes?.['selector']?.(bare), []);
});

test('EndpointSlices are watched for headless Services alone, and kept as addresses and ports', () => {
  const slice = {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: {
      name: 'weather-x',
      namespace: 'team1',
      labels: { 'kubernetes.io/service-name': 'weather', other: 'x' },
    },
    addressType: 'IPv4',
    endpoints: [
      {
        addresses: ['10.1.0.1'],
        conditions: { ready: true, serving: true },
        nodeName: 'n',
        targetRef: { kind: 'Pod', name: 'weather-1' },
      },
      { addresses: ['10.1.0.2'] },
    ],
    ports: [{ name: 'a2a', port: 8000, protocol: 'TCP', appProtocol: 'http' }],
  } as KubeObject as EndpointSlice;
  assert.equal(endpointSlices.labels, 'service.kubernetes.io/headless');
  assert.deepEqual(endpointSlices.keep?.(slice), {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { name: 'weather-x', namespace: 'team1', labels: { 'kubernetes.io/service-name': 'weather' } },
    addressType: 'IPv4',
    endpoints: [{ addresses: ['10.1.0.1'], conditions: { ready: true } }, { addresses: ['10.1.0.2'] }],
    ports: [{ name: 'a2a', port: 8000, protocol: 'TCP' }],
  });
  assert.deepEqual(endpointSlices.indexes?.['service']?.(slice), ['weather']);
  const { endpoints: _, ports: __, ...empty } = { ...slice, metadata: { name: 'x' } };
  assert.deepEqual(endpointSlices.keep?.(empty), { ...empty, endpoints: [], ports: [] });
  assert.deepEqual(endpointSlices.indexes?.['service']?.(empty), []);
});

test('of a pod its addresses are kept, the second family only where there is one', () => {
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, spec: { containers: [] } };
  const kept = (status: object) => enrolledPods.keep?.({ ...pod, status }).status;
  assert.deepEqual(kept({ podIP: '10.1.0.1', podIPs: [{ ip: '10.1.0.1' }] }), { conditions: [], podIP: '10.1.0.1' });
  const both = { podIP: '10.1.0.1', podIPs: [{ ip: '10.1.0.1' }, { ip: 'fd00::1' }] };
  assert.deepEqual(kept(both), { conditions: [], ...both });
  assert.deepEqual(enrolledPods.keep?.(pod).status, { conditions: [] });
});

test('a Service reaches whoever bears every label of its selector; an empty selector reaches nobody', () => {
  const selecting = (selector?: Record<string, string>) => ({ ...whole, spec: { selector } }) as Service;
  assert.equal(selects(selecting({ app: 'w' }), { app: 'w', more: 'x' }), true);
  assert.equal(selects(selecting({ app: 'w', more: 'y' }), { app: 'w', more: 'x' }), false);
  assert.equal(selects(selecting({}), { app: 'w' }), false);
  assert.equal(selects(selecting(), { app: 'w' }), false);
});

/** Honours namespace and index, and counts what it gave. */
function readerOf(objects: ReadonlyMap<Watch, readonly KubeObject[]>) {
  let given = 0;
  const list = (watch: unknown, where: Where = {}): readonly KubeObject[] => {
    const of = (watch as Watch).indexes?.[where.index?.name ?? ''];
    const found = (objects.get(watch as Watch) ?? [])
      .filter(({ metadata }) => metadata.namespace === where.namespace)
      .filter((object) => of?.(object).includes(where.index?.value ?? '') === true);
    given += found.length;
    return found;
  };
  return { reader: { list, get: () => undefined } as unknown as Reader, given: () => given };
}

test('AC-03: the Services of a workload are found by selector, sorted, each once, without a look at the others', () => {
  const service = (name: string, selector: Record<string, string>, more: object = {}): Service => ({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name, namespace: 'team1', ...more },
    spec: { selector },
  });
  const labels = { app: 'weather-agent', tier: 'front' };
  const all = [
    service('b', { app: 'weather-agent', tier: 'front' }),
    service('of-this-revision', { app: 'weather-agent', 'pod-template-hash': '7d9f' }),
    service('of-another-revision', { 'pod-template-hash': '5c8b' }),
    service('a', { tier: 'front' }),
    service('narrower', { app: 'weather-agent', zone: 'x' }),
    service('leaving', { app: 'weather-agent' }, { deletionTimestamp: '2026-01-01T00:00:00Z' }),
    service('elsewhere', { app: 'weather-agent' }, { namespace: 'team2' }),
    ...Array.from({ length: 100 }, (_, i) => service(`other-${i}`, { app: `other-${i}` })),
  ];
  const { reader, given } = readerOf(new Map([[services as unknown as Watch, all]]));
  const names = (pods: readonly Pod[]) =>
    servicesOf(reader, workload('Deployment', { template: { labels } }), pods).map(({ metadata }) => metadata.name);
  const pod = (more: Record<string, string>): Pod => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p', namespace: 'team1', labels: { ...labels, ...more } },
    spec: { containers: [] },
  });
  assert.deepEqual(names([]), ['a', 'b'], 'without a pod by the template');
  assert.equal(given(), 5);
  const before = given();
  assert.deepEqual(names([pod({ 'pod-template-hash': '7d9f' })]), ['a', 'b', 'of-this-revision']);
  assert.equal(given() - before, 5);
  const both = [pod({ 'pod-template-hash': '7d9f' }), pod({ 'pod-template-hash': '5c8b' })];
  assert.deepEqual(names(both), ['a', 'b', 'of-another-revision', 'of-this-revision'], 'each once');
  assert.equal(given() - before, 11);
  assert.deepEqual(
    names([pod({ app: 'weather-agent', tier: 'back' })]),
    [],
    'old labels, which the Services do not select',
  );
});

test('the slices of a headless Service are found by its name, sorted', () => {
  const slice = (name: string, of: string, namespace = 'team1'): EndpointSlice => ({
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { name, namespace, labels: { 'kubernetes.io/service-name': of } },
    addressType: 'IPv4',
  });
  const all = [slice('b', 'weather'), slice('a', 'weather'), slice('c', 'other'), slice('d', 'weather', 'team2')];
  const { reader } = readerOf(new Map([[endpointSlices as unknown as Watch, all]]));
  assert.deepEqual(
    slicesOf(reader, whole).map(({ metadata }) => metadata.name),
    ['a', 'b'],
  );
});
