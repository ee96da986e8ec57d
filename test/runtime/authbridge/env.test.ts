/** The environment of injected containers: references or literals, and what an AgentRuntime overrides. */

import assert from 'node:assert/strict';
import test from 'node:test';
import { literal } from '../../../runtime/authbridge/env.ts';
import { authBridgeData, authBridgeSettings } from '../../../runtime/config/authbridge-data.ts';
import { mergeLayers } from '../../../runtime/config/merge.ts';
import { allContainers, containerOf, envOf, injectedPod, layers, r0, type SnapshotParts } from './fixtures.ts';

const overriding = r0({
  mtlsMode: 'permissive',
  identity: {
    spiffe: { trustDomain: 'prod.example' },
    allowedAudiences: ['a', 'b,c'],
    clientRegistration: { keycloak: { realm: 'team1-realm' } },
  },
  trace: { endpoint: 'collector:4317', sampling: { type: 'always' } },
});
const env = (parts: SnapshotParts) => envOf(containerOf(injectedPod(parts), 'envoy-proxy'));
const reference = (name: string) => `rossoctl-authbridge-config/${name}`;

test('by reference: every setting comes from the namespace ConfigMap, but for what the AgentRuntime overrides', () => {
  const { KEYCLOAK_URL, KEYCLOAK_REALM, ISSUER, TOKEN_URL, SPIFFE_TRUST_DOMAIN, OTEL_TRACES_SAMPLER, ...rest } = env({
    runtime: overriding,
  });
  assert.equal(KEYCLOAK_URL, reference('KEYCLOAK_URL'));
  assert.equal(KEYCLOAK_REALM, 'team1-realm');
  assert.equal(ISSUER, 'http://keycloak.rossoctl-system.svc:8080/realms/team1-realm');
  assert.equal(TOKEN_URL, `${ISSUER}/protocol/openid-connect/token`);
  assert.equal(SPIFFE_TRUST_DOMAIN, 'prod.example');
  assert.equal(OTEL_TRACES_SAMPLER, 'always_on');
  assert.equal(rest['ALLOWED_AUDIENCES'], '["a","b,c"]');
  assert.equal(rest['OTEL_EXPORTER_OTLP_ENDPOINT'], 'http://collector:4317');
  assert.equal(rest['TARGET_AUDIENCE'], reference('TARGET_AUDIENCE'));
});

test('literally: nothing refers to a ConfigMap, and the AgentRuntime wins over the layers', () => {
  const parts = {
    gates: { perWorkloadConfigResolution: true },
    config: {
      identity: { realm: 'platform' },
      tokenExchange: { tokenUrl: 'https://t.example/token', scopes: ['openid', 'x'] },
    },
    runtime: overriding,
  };
  const values = env(parts);
  assert.equal(values['KEYCLOAK_REALM'], 'team1-realm');
  assert.equal(values['TOKEN_URL'], 'https://t.example/token');
  assert.equal(values['TARGET_SCOPES'], 'openid x');
  assert.ok(Object.values(values).every((value) => !value.startsWith('rossoctl-authbridge-config')));
});

test('a token URL of the platform stays a reference when the AgentRuntime overrides the realm', () => {
  const config = { tokenExchange: { tokenUrl: 'https://t.example/token' } };
  assert.equal(env({ config, runtime: overriding })['TOKEN_URL'], reference('TOKEN_URL'));
});

for (const perWorkloadConfigResolution of [false, true]) {
  test(`what decides the pod's shape is literal (perWorkloadConfigResolution: ${perWorkloadConfigResolution})`, () => {
    const gates = { perWorkloadConfigResolution };
    const { AUTHBRIDGE_MODE, MTLS_MODE, SPIFFE_ENDPOINT_SOCKET } = env({ gates, config: { mtls: { mode: 'strict' } } });
    assert.deepEqual([AUTHBRIDGE_MODE, MTLS_MODE], ['envoy-sidecar', 'strict']);
    assert.equal(SPIFFE_ENDPOINT_SOCKET, 'unix:///run/spire/agent-sockets/agent.sock');
  });
}

test('without SPIFFE there is no SPIFFE variable and no mutual TLS', () => {
  const values = env({ gates: { spiffeHelper: false, perWorkloadConfigResolution: true } });
  assert.equal(values['MTLS_MODE'], 'disabled');
  assert.deepEqual(
    Object.keys(values).filter((name) => name.startsWith('SPIFFE')),
    [],
  );
});

test('no Secret is ever in an environment', () => {
  const config = {
    clientRegistration: { mode: 'sidecar' },
    identity: { adminCredentialsSecret: 'keycloak-admin' },
  } as const;
  const pod = injectedPod({ config, gates: { perWorkloadConfigResolution: true } });
  const variables = allContainers(pod).flatMap((container) => container.env ?? []);
  assert.ok(variables.every(({ valueFrom }) => valueFrom?.secretKeyRef === undefined));
  const readers = allContainers(pod).filter(({ volumeMounts }) =>
    volumeMounts?.some(({ name }) => name === 'rossoctl-admin-credentials'),
  );
  assert.deepEqual(
    readers.map(({ name }) => name),
    ['client-registration'],
  );
});

test('a dollar sign in a literal is not expanded by the kubelet, and an empty value is no variable', () => {
  assert.deepEqual(literal('A', 'x$(POD_IP)$$'), { name: 'A', value: 'x$$(POD_IP)$$$$' });
  assert.equal(literal('A', ''), undefined);
});

test('the ConfigMap holds each setting under the name the environment refers to', () => {
  const effective = mergeLayers(
    layers(
      {},
      {
        identity: { url: 'https://sso.example/', realm: 'r', ca: 'PEM', allowedAudiences: ['x'] },
        tokenExchange: { scopes: ['s'], routes: [{ host: 'tool', audience: 'tool' }] },
        trace: { sampling: { type: 'never' } },
      },
    ),
  );
  const data = authBridgeData(effective);
  assert.deepEqual(
    Object.keys(data),
    authBridgeSettings.map(({ name }) => name),
  );
  assert.equal(data['ISSUER'], 'https://sso.example/realms/r');
  assert.equal(data['OTEL_TRACES_SAMPLER'], 'always_off');
  assert.equal(data['OTEL_TRACES_SAMPLER_ARG'], '0.1');
  assert.ok(Object.values(data).every((value) => typeof value === 'string' && value !== ''));
});

test('what the operator writes reaches a container as environment, when it starts: no injected volume is of a ConfigMap', () => {
  for (const perWorkloadConfigResolution of [false, true]) {
    for (const mode of ['operator', 'sidecar'] as const) {
      const { spec } = injectedPod({
        gates: { perWorkloadConfigResolution },
        config: { clientRegistration: { mode }, identity: { adminCredentialsSecret: 'keycloak-registrar' } },
      });
      const kinds = (spec.volumes ?? []).flatMap((volume) => Object.keys(volume).filter((key) => key !== 'name'));
      assert.deepEqual([...new Set(kinds)].sort(), ['csi', 'emptyDir', 'secret']);
    }
  }
});
