/** Values that are valid one by one and impossible together are refused where they were set last. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { layersOf } from '../../../runtime/config/layers-of.ts';
import { quantity } from '../../../runtime/config/quantity.ts';
import { compiledDefaults } from '../../../runtime/config/platform.ts';
import { agentRuntimeOver, consistent } from '../../../runtime/config/consistent.ts';
import { defaultsConfigMap, platformConfigMap, runtime } from './layer-values.ts';

/** `undefined` sets nothing; the result names the layers that stand and what is said of the others. */
function judged(platform: string | undefined, namespace?: string) {
  const { config, problems } = layersOf({
    operatorNamespace: 'rossoctl-system',
    namespace: 'team1',
    configMaps: [
      ...(platform === undefined ? [] : [platformConfigMap({ data: { 'config.yaml': platform } })]),
      ...(namespace === undefined ? [] : [defaultsConfigMap({ data: { 'config.yaml': namespace } })]),
    ],
  });
  return { stand: config.map(({ source }) => source.layer), said: problems.map(({ message }) => message) };
}

const request = (memory: string) => `resources: {envoyProxy: {requests: {memory: ${memory}}}}`;
const limit = (memory: string) => `resources: {envoyProxy: {limits: {memory: ${memory}}}}`;

test('the compiled defaults agree with themselves', () => {
  assert.deepEqual(consistent([]), { config: [], problems: [] });
  const ports = Object.entries(compiledDefaults.proxy).filter(([name]) => name.endsWith('Port'));
  assert.equal(new Set(ports.map(([, port]) => port)).size, 4);
});

test('two ports alike, in one text or against a default', () => {
  for (const text of ['proxy: {adminPort: 15123}', 'proxy: {adminPort: 20000, healthPort: 20000}']) {
    const { stand, said } = judged(text);
    assert.deepEqual(stand, []);
    assert.match(
      said.join(),
      /proxy\.(adminPort|healthPort): \d+ is also proxy\.\w+ \(.+\); each needs a port of its own/,
    );
  }
  assert.deepEqual(judged('proxy: {adminPort: 15123, outboundPort: 9901}'), { stand: ['platform'], said: [] });
});

test('a request above its limit is the fault of whoever spoke last', () => {
  assert.deepEqual(judged(undefined, request('768Mi')), {
    stand: [],
    said: [
      'ConfigMap team1/defaults, key config.yaml: resources.envoyProxy.requests.memory: the request 768Mi is above the limit 512Mi; ' +
        'see also resources.envoyProxy.limits.memory (compiled default)',
    ],
  });
  assert.deepEqual(judged(limit('1Gi'), request('768Mi')), { stand: ['platform', 'namespace'], said: [] });
  const lowered = judged('resources: {envoyProxy: {requests: {memory: 2Gi}, limits: {memory: 3Gi}}}', limit('1Gi'));
  assert.deepEqual(lowered.stand, ['platform']);
  assert.match(
    lowered.said.join(),
    /^ConfigMap team1\/defaults.*resources.envoyProxy.limits.memory: the request 2Gi is above the limit 1Gi/,
  );
  assert.deepEqual(judged(request('512Mi')), { stand: ['platform'], said: [] }, 'equal is allowed');
  const cpu = 'resources: {envoyProxy: {requests: {cpu: 700m}, limits: {cpu: "0.7"}}}';
  assert.deepEqual(judged(cpu), { stand: ['platform'], said: [] }, 'equal in another spelling');
  assert.deepEqual(judged('resources: {proxyInit: {requests: {example.com/gpu: "3"}}}').said, [], 'no limit');
});

test('a route by mutual TLS where that is off is the fault of whoever spoke last', () => {
  const routes = 'tokenExchange: {routes: [{host: a, audience: a}, {host: b, action: passthrough, mtls: required}]}';
  const off = 'mtls: {mode: disabled}';
  assert.deepEqual(judged(off, routes), {
    stand: ['platform'],
    said: [
      'ConfigMap team1/defaults, key config.yaml: tokenExchange.routes: tokenExchange.routes[1].mtls is required, and mtls.mode is ' +
        'disabled; see also mtls.mode (ConfigMap rossoctl-system/rossoctl-platform-config, key config.yaml)',
    ],
  });
  const { stand, said } = judged(routes, off);
  assert.deepEqual(stand, ['platform']);
  assert.match(said.join(), /team1\/defaults.*: mtls\.mode: tokenExchange\.routes\[1\]\.mtls is required/);
  assert.deepEqual(judged(routes, 'mtls: {mode: strict}').said, []);
  assert.deepEqual(judged(off, routes.replace('required', 'none')).said, [], 'none is what it is');
});

test('a pod cannot register a client with a secret where there is none', () => {
  const [mode, auth] = ['clientRegistration: {mode: sidecar}', 'identity: {clientAuth: spiffe}'];
  assert.match(judged(auth, mode).said.join(), /team1\/defaults.*: clientRegistration\.mode: a pod registers a client/);
  assert.match(judged(mode, auth).said.join(), /team1\/defaults.*: identity\.clientAuth: .*mode: operator/);
  assert.deepEqual(judged(mode, 'identity: {clientAuth: client-secret}').said, []);
});

test('an AgentRuntime turns off no mutual TLS that a route below it requires', () => {
  const routes = 'tokenExchange: {routes: [{host: b, action: passthrough, mtls: required}]}';
  const layers = layersOf({
    operatorNamespace: 'rossoctl-system',
    namespace: 'team1',
    configMaps: [defaultsConfigMap({ data: { 'config.yaml': routes } })],
  });
  const found = agentRuntimeOver(layers, runtime({ mtlsMode: 'disabled' }));
  assert.equal(
    'message' in found && found.message,
    'AgentRuntime team1/weather: spec.mtlsMode: tokenExchange.routes[0].mtls is required, and mtls.mode is disabled; ' +
      'see also tokenExchange.routes (ConfigMap team1/defaults, key config.yaml)',
  );
  for (const spec of [{ mtlsMode: 'permissive' }, {}] as const) {
    assert.ok(!('message' in agentRuntimeOver(layers, runtime(spec))));
  }
});

test('one contradiction hides no other', () => {
  const { stand, said } = judged('proxy: {adminPort: 15123}', request('768Mi'));
  assert.deepEqual([stand, said.length], [[], 2]);
});

for (const [text, expected] of [
  ['50m', 0.05],
  ['2', 2],
  ['0.5', 0.5],
  ['128Mi', 134217728],
  ['1k', 1000],
  ['2e3', 2000],
  ['1E', 1e18],
  ['1Ei', 2 ** 60],
  ['lots', undefined],
  ['', undefined],
  ['5x', undefined],
] as const) {
  test(`quantity "${text}" is ${expected}`, () => {
    assert.equal(quantity(text), expected);
  });
}
