/** What the kubelet asks a pod's containers for: every form in which it is written. */

import assert from 'node:assert/strict';
import test from 'node:test';
import type { Container } from '../../../runtime/api/kubernetes.ts';
import { probedPaths } from '../../../runtime/authbridge/probes.ts';

const container = (fields: Partial<Container>): Container => ({ name: 'agent', ...fields });

const table: readonly (readonly [what: string, container: Container, paths: readonly string[]])[] = [
  ['nothing', container({}), []],
  ['HTTP by number', container({ livenessProbe: { httpGet: { path: '/live', port: 8000 } } }), ['8000 /live']],
  [
    'HTTP by name',
    container({
      ports: [{ name: 'http', containerPort: 8080 }],
      readinessProbe: { httpGet: { path: '/ready?deep=1', port: 'http' } },
    }),
    ['8080 /ready?deep=1'],
  ],
  ['a number in quotes', container({ livenessProbe: { httpGet: { path: '/', port: '8000' } } }), ['8000 /']],
  ['no path', container({ startupProbe: { httpGet: { port: 8000 } } }), ['8000 /']],
  ['a path without its slash', container({ startupProbe: { httpGet: { path: 'up', port: 8000 } } }), ['8000 /up']],
  ['a name that no port has', container({ startupProbe: { httpGet: { path: '/', port: 'admin' } } }), []],
  ['TLS', container({ livenessProbe: { httpGet: { path: '/live', port: 8443, scheme: 'HTTPS' } } }), []],
  ['gRPC', container({ livenessProbe: { grpc: { port: 9000 } } }), ['9000 /grpc.health.v1.Health/Check']],
  ['lifecycle hooks', container({ lifecycle: { preStop: { httpGet: { path: '/bye', port: 8000 } } } }), ['8000 /bye']],
  [
    'the same twice',
    container({
      livenessProbe: { httpGet: { path: '/up', port: 8000 } },
      readinessProbe: { httpGet: { path: '/up', port: 8000 } },
    }),
    ['8000 /up'],
  ],
];

test('each probe and hook becomes its port and path', () => {
  for (const [what, one, paths] of table) {
    const found = probedPaths({ containers: [one] }).map(({ port, path }) => `${port} ${path}`);
    assert.deepEqual(found, paths, what);
  }
});

test('init containers are asked as well, and first', () => {
  const init = container({ startupProbe: { httpGet: { path: '/init', port: 7000 } } });
  const own = container({ livenessProbe: { httpGet: { path: '/live', port: 8000 } } });
  assert.deepEqual(probedPaths({ initContainers: [init], containers: [own] }), [
    { port: 7000, path: '/init' },
    { port: 8000, path: '/live' },
  ]);
});
