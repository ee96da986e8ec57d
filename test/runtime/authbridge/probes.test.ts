/** What the kubelet asks a pod's containers for: every form in which it is written; and what it asks for where the proxy would listen. */

import assert from 'node:assert/strict';
import test from 'node:test';
import type { Container } from '../../../runtime/api/kubernetes.ts';
import { probedPaths } from '../../../runtime/authbridge/probes.ts';
import { judged, p0 } from './fixtures.ts';

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
  ['lifecycle hooks', container({ lifecycle: { preStop: { httpGet: { path: '/bye', port: 8000 } } } }), []],
  [
    'a path that the sidecar would not take',
    container({ livenessProbe: { httpGet: { path: `/${'x'.repeat(1_024)}`, port: 8000 } } }),
    [],
  ],
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

/** The agent's container → the port that is warned of. */
const misplaced: readonly (readonly [what: string, agent: Partial<Container>, warned: number | undefined])[] = [
  ['TCP at the health port', { readinessProbe: { tcpSocket: { port: 15125 } } as object }, 15125],
  ['HTTP at the health port', { livenessProbe: { httpGet: { path: '/readyz', port: 15125 } } }, 15125],
  ['HTTP at the inbound port', { startupProbe: { httpGet: { path: '/', port: 15124 } } }, 15124],
  ['its own port', { readinessProbe: { httpGet: { path: '/', port: 8080 } } }, undefined],
  [
    'a port of the proxy that it declares',
    { ports: [{ containerPort: 15125 }], readinessProbe: { httpGet: { path: '/', port: 15125 } } },
    undefined,
  ],
  [
    'a port of the proxy that its PORT names',
    { env: [{ name: 'PORT', value: '15125' }], readinessProbe: { httpGet: { path: '/', port: 15125 } } },
    undefined,
  ],
  ['a command', { readinessProbe: { exec: { command: ['true'] } } as object }, undefined],
];

test('a probe at a port of the proxy is the application’s, and warned of where the application does not say that it listens there', () => {
  for (const [what, agent, warned] of misplaced) {
    const { verdict } = judged({ pod: p0({ container: agent }) });
    assert.equal(verdict.reason, 'Injected', what);
    const says = `container agent is probed at port ${warned}, which is left to it, so the proxy has another `;
    const found = (verdict.warnings ?? []).map((warning) => warning.startsWith(says));
    assert.deepEqual(found, warned === undefined ? [] : [true], `${what}: ${verdict.warnings?.join()}`);
  }
});
