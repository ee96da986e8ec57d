/** Pod-level resources grow by what is injected, and only where they bound anything. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Container, ResourceRequirements } from '../../../runtime/api/kubernetes.ts';
import { raised } from '../../../runtime/authbridge/pod-resources.ts';

const container = (resources: ResourceRequirements): Container => ({ name: 'c', image: 'i', resources }) as Container;
const added = [
  container({ requests: { cpu: '50m', memory: '64Mi' }, limits: { cpu: '200m', memory: '256Mi' } }),
  container({ requests: { cpu: '0.01', memory: '16Mi' }, limits: { memory: '32Mi' } }),
  container({}),
];

const rows: readonly (readonly [what: string, pod: ResourceRequirements, is: ResourceRequirements])[] = [
  ['requests', { requests: { cpu: '10m' } }, { requests: { cpu: '70m' } }],
  ['limits, and where there is none the request', { limits: { cpu: '1' } }, { limits: { cpu: '1210m' } }],
  ['bytes', { requests: { memory: '100Mi' } }, { requests: { memory: String(180 * 2 ** 20) } }],
  ['what the pod does not bound', {}, {}],
  ['what nobody asks for', { limits: { 'example.com/gpu': '1' } }, { limits: { 'example.com/gpu': '1' } }],
  ['no quantity', { limits: { cpu: 'lots' } }, { limits: { cpu: 'lots' } }],
  ['claims', { claims: [{ name: 'x' }], limits: {} } as object, { claims: [{ name: 'x' }], limits: {} } as object],
];
for (const [what, pod, is] of rows)
  test(`pod-level resources: ${what}`, () => assert.deepEqual(raised(pod, added), is));
