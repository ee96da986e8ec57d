/** Mode proxy-sidecar: what the application is told of its proxy, what the proxy of the application, and what the owner is warned of. */

import assert from 'node:assert/strict';
import test from 'node:test';
import type { Container } from '../../../runtime/api/kubernetes.ts';
import { containerOf, envOf, injectedPod, judged, p0, type PodParts, r0, type SnapshotParts } from './fixtures.ts';

const runtime = r0({ authBridgeMode: 'proxy-sidecar' });
const injected = (parts: PodParts = {}, more: SnapshotParts = {}) => injectedPod({ runtime, pod: p0(parts), ...more });
const applicationOf = (parts: PodParts = {}) => envOf(containerOf(injected(parts), 'agent'));
const proxyOf = (parts: PodParts = {}) => envOf(containerOf(injected(parts), 'envoy-proxy'));
const proxy = 'http://127.0.0.1:15123';

test('the application is told of its proxy, in each spelling, and what never to use it for', () => {
  const { NO_PROXY, no_proxy, ...rest } = applicationOf();
  const { HTTP_PROXY, http_proxy, HTTPS_PROXY, https_proxy, NODE_USE_ENV_PROXY } = rest;
  assert.deepEqual([HTTP_PROXY, http_proxy, HTTPS_PROXY, https_proxy], [proxy, proxy, proxy, proxy]);
  assert.equal(NODE_USE_ENV_PROXY, '1');
  assert.equal(NO_PROXY, no_proxy);
  assert.doesNotMatch(NO_PROXY ?? '', /\s/);
  assert.deepEqual(NO_PROXY?.split(','), [
    'localhost',
    '127.0.0.1',
    '::1',
    'kubernetes.default.svc',
    'kubernetes.default.svc.cluster.local',
    '$(KUBERNETES_SERVICE_HOST)',
  ]);
});

test('where traffic is redirected, or nothing is injected, or a mesh has its container, nobody is told', () => {
  assert.deepEqual(envOf(containerOf(injectedPod(), 'agent')), {});
  assert.deepEqual(envOf(containerOf(injected({}, { gates: { envoyProxy: false } }), 'agent')), {});
  const mesh = { name: 'istio-proxy', image: 'x' };
  const pod = p0();
  const both = injected({ spec: { containers: [...pod.spec.containers, mesh] } });
  assert.deepEqual(containerOf(both, 'istio-proxy'), mesh);
});

test('the port that was chosen is told, where the first choice is taken', () => {
  const ports = [{ containerPort: 15123 }];
  assert.equal(applicationOf({ container: { ports } })['HTTP_PROXY'], 'http://127.0.0.1:15126');
});

test('init containers are told only where the proxy runs before them', () => {
  const initContainers = [{ name: 'fetch', image: 'x' }];
  assert.equal(envOf(containerOf(injected({ spec: { initContainers } }), 'fetch'))['HTTP_PROXY'], proxy);
  const old = injected({ spec: { initContainers } }, { nativeSidecars: false });
  assert.deepEqual(envOf(containerOf(old, 'fetch')), {});
  assert.equal(envOf(containerOf(old, 'agent'))['HTTP_PROXY'], proxy);
});

const own: readonly (readonly [
  says: string,
  env: Container['env'],
  kept: Readonly<Record<string, string>>,
  warned?: RegExp,
])[] = [
  [
    'its own proxy',
    [{ name: 'http_proxy', value: 'http://corp:3128' }],
    { http_proxy: 'http://corp:3128' },
    /agent sets http_proxy/,
  ],
  ['no proxy at all', [{ name: 'HTTP_PROXY', value: '' }], { HTTP_PROXY: '' }, /agent sets HTTP_PROXY/],
  [
    'its own proxy for https',
    [{ name: 'HTTPS_PROXY', value: 'http://corp:3128' }],
    { HTTPS_PROXY: 'http://corp:3128', HTTP_PROXY: proxy, NODE_USE_ENV_PROXY: '1' },
  ],
  [
    'exceptions that do no harm',
    [{ name: 'NO_PROXY', value: 'a.corp,10.0.0.0/8' }],
    { NO_PROXY: 'a.corp,10.0.0.0/8', HTTP_PROXY: proxy },
  ],
  ['exceptions for everything', [{ name: 'NO_PROXY', value: 'a, *' }], { NO_PROXY: 'a, *' }, /NO_PROXY itself.*"\*"/],
  ['exceptions for Services', [{ name: 'no_proxy', value: '.svc' }], { no_proxy: '.svc' }, /no_proxy itself.*"\.svc"/],
  ['exceptions for the cluster', [{ name: 'no_proxy', value: 'x,.cluster.local' }], {}, /"\.cluster\.local"/],
];
for (const [says, env, kept, warned] of own) {
  test(`an application that has set ${says} keeps it`, () => {
    const { verdict } = judged({ runtime, pod: p0({ container: { env } }) });
    assert.ok(verdict.kind === 'mutate');
    const told = envOf(containerOf(verdict.object, 'agent'));
    for (const [name, value] of Object.entries(kept)) assert.equal(told[name], value, name);
    assert.equal(told['HTTP_PROXY'] === proxy, !/sets http_proxy|sets HTTP_PROXY/i.test(warned?.source ?? ''));
    // Of names that mean the same only the owner's is there: two values would be read by chance.
    for (const name of env?.map((variable) => variable.name) ?? []) {
      const twin = name === name.toUpperCase() ? name.toLowerCase() : name.toUpperCase();
      assert.equal(told[twin], undefined, twin);
    }
    assert.match((verdict.warnings ?? []).join('\n'), warned ?? /^$/);
  });
}

test('a pod that is admitted again is left as it is', () => {
  const { verdict } = judged({ runtime, pod: injected() });
  assert.deepEqual([verdict.kind, verdict.reason], ['allow', 'AlreadyInjected']);
});

const ports: readonly (readonly [says: string, ports: Container['ports'], port: string | undefined])[] = [
  [
    'the first TCP port',
    [{ containerPort: 53, protocol: 'UDP' }, { containerPort: 8000 }, { containerPort: 1 }],
    '8000',
  ],
  ['the one named http', [{ containerPort: 9000 }, { name: 'http', containerPort: 8000 }], '8000'],
  [
    'the one named a2a',
    [
      { name: 'http', containerPort: 8000 },
      { name: 'a2a', containerPort: 8001 },
    ],
    '8001',
  ],
  ['none', [], undefined],
];
for (const [says, declared, port] of ports) {
  test(`the proxy passes callers on to ${says}`, () => {
    assert.equal(proxyOf({ container: { ports: declared } })['APPLICATION_PORT'], port);
  });
}

test('without a declared port the owner is warned; a mesh’s port is not the application’s', () => {
  const mesh = { name: 'istio-proxy', image: 'x', ports: [{ containerPort: 15090 }] };
  const { verdict } = judged({ runtime, pod: p0({ spec: { containers: [mesh, { name: 'agent', image: 'x' }] } }) });
  assert.match(verdict.kind === 'mutate' ? (verdict.warnings ?? []).join() : '', /declares a TCP port.*rossoctl-in/);
});

test("on the host's network there is no proxy for the pod's own calls, and it is said", () => {
  const { verdict } = judged({ runtime, pod: p0({ spec: { hostNetwork: true } }) });
  assert.ok(verdict.kind === 'mutate');
  assert.deepEqual(envOf(containerOf(verdict.object, 'agent')), {});
  const { OUTBOUND_PROXY, APPLICATION_PORT } = envOf(containerOf(verdict.object, 'envoy-proxy'));
  assert.deepEqual([OUTBOUND_PROXY, APPLICATION_PORT], ['off', '8080']);
  assert.match((verdict.warnings ?? []).join(), /host's network.*no HTTP_PROXY/);
});
