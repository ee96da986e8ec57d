/** The sidecar's environment: what the webhook writes is read back, and what is wrong is told by name, all at once. */

import assert from 'node:assert/strict';
import test from 'node:test';
import { rootCertificates } from 'node:tls';
import type { EnvVar } from '../../../runtime/api/kubernetes.ts';
import { identityEnv } from '../../../runtime/authbridge/env.ts';
import { envoyProxy } from '../../../runtime/authbridge/envoy-proxy.ts';
import type { Build } from '../../../runtime/authbridge/build.ts';
import { authBridgeData } from '../../../runtime/config/authbridge-data.ts';
import { componentsOf } from '../../../runtime/config/components.ts';
import { mergeLayers } from '../../../runtime/config/merge.ts';
import type { PartialConfig } from '../../../runtime/config/platform.ts';
import { helperSettings, proxySettings, registrationSettings } from '../../../runtime/sidecar/settings.ts';
import { layers } from '../config/layer-values.ts';

const least = {
  ISSUER: 'https://login.example/realms/agents',
  POD_NAMESPACE: 'team1',
  POD_NAME: 'weather-1',
  HEALTH_PORT: '15125',
  INBOUND_PORT: '15124',
  OUTBOUND_PORT: '15123',
  ADMIN_PORT: '9901',
  BYPASS_PATHS: '["/healthz"]',
  ROUTES: '[]',
  PLAIN_TCP: 'allow',
};

test('what is not set has its default, made from the issuer where it can be', () => {
  const settings = proxySettings(least);
  assert.equal(settings.jwksUrl, 'https://login.example/realms/agents/protocol/openid-connect/certs');
  assert.equal(settings.tokenUrl, 'https://login.example/realms/agents/protocol/openid-connect/token');
  assert.deepEqual(settings.ports, { inbound: 15124, outbound: 15123, admin: 9901 });
  assert.deepEqual(settings.bypassPaths, ['/healthz']);
  assert.equal(settings.plainTcpPorts, undefined);
  assert.equal(settings.idpAuthorities, '');
  assert.equal(settings.mtls, 'disabled');
  assert.equal(settings.spiffe, undefined);
  assert.equal(settings.fallback, undefined);
  assert.equal(settings.skewSeconds, 30);
  assert.equal(settings.explicit, undefined);
});

test('a pod of two families is itself at both addresses, which the kubelet tells in one variable', () => {
  const told = identityEnv.find(({ name }) => name === 'POD_IP');
  assert.equal(told?.valueFrom?.fieldRef?.fieldPath, 'status.podIPs');
  assert.deepEqual(proxySettings({ ...least, POD_IP: '10.0.0.1,fd00::1' }).pod.addresses, ['10.0.0.1', 'fd00::1']);
});

test('without capture it is told where the application serves, and whether loopback is the pod’s alone', () => {
  const env = { ...least, AUTHBRIDGE_MODE: 'proxy-sidecar' };
  assert.deepEqual(proxySettings(env).explicit, { application: undefined, isOutbound: true });
  const told = { APPLICATION_PORT: '8080', OUTBOUND_PROXY: 'off' };
  assert.deepEqual(proxySettings({ ...env, ...told }).explicit, { application: 8080, isOutbound: false });
});

test("the application's JWT-SVID is for the issuer unless audiences are named", () => {
  const env = { ...least, SPIFFE_ENDPOINT_SOCKET: 'unix:///run/spire/agent.sock' };
  assert.deepEqual(helperSettings(env).audiences, [least.ISSUER]);
  assert.deepEqual(helperSettings({ ...env, JWT_AUDIENCES: '["a","b"]' }).audiences, ['a', 'b']);
  assert.deepEqual(helperSettings({ ...env, ISSUER: '' }).audiences, []);
});

const wrong: readonly (readonly [env: Readonly<Record<string, string>>, said: RegExp])[] = [
  [{ ISSUER: '' }, /ISSUER is not set/],
  [{ HEALTH_PORT: '0' }, /HEALTH_PORT: "0" is no whole number from 1 to 65535/],
  [{ INBOUND_PORT: '15124x' }, /INBOUND_PORT: "15124x"/],
  [{ AUTHBRIDGE_MODE: 'lite' }, /AUTHBRIDGE_MODE: "lite" is none of envoy-sidecar, proxy-sidecar/],
  [{ APPLICATION_PORT: 'http' }, /APPLICATION_PORT: "http"/],
  [{ MTLS_MODE: 'loose' }, /MTLS_MODE: "loose" is none of disabled, permissive, strict/],
  [{ MTLS_MODE: 'strict' }, /MTLS_MODE is strict, which needs SPIFFE_ENDPOINT_SOCKET/],
  [{ CLIENT_AUTH: 'spiffe' }, /CLIENT_AUTH is spiffe, which needs SPIFFE_ENDPOINT_SOCKET/],
  [{ SPIFFE_ENDPOINT_SOCKET: 'tcp://127.0.0.1:1' }, /SPIFFE_ENDPOINT_SOCKET .*TCP/],
  [{ CLOCK_SKEW_SECONDS: '301' }, /CLOCK_SKEW_SECONDS: "301" is no whole number from 0 to 300/],
  [{ ALLOWED_AUDIENCES: '["a", 1]' }, /ALLOWED_AUDIENCES\[1\]/],
  [{ BYPASS_PATHS: '["/*"]' }, /BYPASS_PATHS\[0\].*would open every path/],
  [{ PROBES: '[{"port":80}]' }, /PROBES\[0\]\.path.*missing/],
  [{ ROUTES: '[{"host":"tool:80","audience":"tool"}]' }, /ROUTES\[0\]\.host.*port/],
  [{ ROUTES: 'no' }, /ROUTES: no JSON/],
  [
    { ROUTES: '' },
    /ROUTES is not set: key ROUTES of ConfigMap rossoctl-authbridge-config in this namespace is missing/,
  ],
  [{ BYPASS_PATHS: '' }, /BYPASS_PATHS is not set: key BYPASS_PATHS of ConfigMap/],
  [{ PLAIN_TCP: '' }, /PLAIN_TCP is not set: key PLAIN_TCP of ConfigMap/],
  [{ PLAIN_TCP: '[0]' }, /PLAIN_TCP\[0\]/],
  [{ IDP_CA: 'MIIB' }, /IDP_CA holds no certificate: write PEM/],
];

test('the one who registers trusts the same authorities as the proxy', () => {
  const env = { CLIENT_ID: 'a/b', TOKEN_URL: 'https://idp/t', CREDENTIALS_DIR: '/a', ADMIN_CREDENTIALS_DIR: '/b' };
  const authority = rootCertificates[0] ?? '';
  assert.equal(registrationSettings({ ...env, IDP_CA: authority }).idpAuthorities.trim(), authority.trim());
  assert.equal(registrationSettings(env).idpAuthorities, '');
  assert.throws(() => registrationSettings({ ...env, IDP_CA: 'MIIB' }), /IDP_CA holds no certificate/);
});

test('each variable that cannot be used is told by its name, and why', () => {
  for (const [env, said] of wrong) {
    assert.throws(() => proxySettings({ ...least, ...env }), { code: 'SIDECAR_SETTINGS_INVALID', message: said });
  }
  assert.throws(() => proxySettings({}), /ISSUER is not set; .*POD_NAMESPACE is not set; .*HEALTH_PORT is not set/);
  assert.throws(() => helperSettings({}), /SPIFFE_ENDPOINT_SOCKET is not set/);
});

test('what the webhook writes is what is read: literals, and references with the data of their ConfigMap', () => {
  const config: PartialConfig = {
    identity: {
      url: 'http://keycloak.idp.svc:8080/',
      realm: 'agents',
      issuer: 'https://login.example/realms/agents',
      allowedAudiences: ['weather, and more'],
      bypassPaths: ['/public/*'],
      clientAuth: 'spiffe',
      clockSkewSeconds: 5,
    },
    tokenExchange: {
      scopes: ['a', 'b'],
      routes: [{ host: '*.tools.svc', audience: 'tools', noToken: 'client-credentials' }],
    },
  };
  for (const perWorkloadConfigResolution of [true, false]) {
    const effective = mergeLayers(layers([config], { perWorkloadConfigResolution }));
    assert.ok('config' in effective);
    const pod = { metadata: { name: 'weather', labels: {} } };
    const build: Build = {
      effective,
      components: componentsOf(pod, effective, true),
      ports: { outbound: 15123, inbound: 15124, admin: 9901, health: 15125 },
      exclusions: { outbound: [], inbound: [] },
      explicit: undefined,
      probes: [{ port: 8000, path: '/live' }],
      credentialsSecret: 'credentials',
      clientId: 'team1/weather',
      nativeSidecars: true,
      configHash: undefined,
    };
    const { container } = envoyProxy(build);
    const settings = proxySettings(environmentOf(container.env ?? [], authBridgeData(effective)));
    assert.equal(settings.issuer, 'https://login.example/realms/agents');
    assert.equal(settings.jwksUrl, 'http://keycloak.idp.svc:8080/realms/agents/protocol/openid-connect/certs');
    assert.deepEqual(settings.audiences, ['weather, and more']);
    assert.deepEqual(settings.bypassPaths, ['/public/*']);
    assert.deepEqual(settings.probes, [{ port: 8000, path: '/live' }]);
    assert.equal(settings.clientAuth, 'jwt-spiffe');
    assert.equal(settings.skewSeconds, 5);
    assert.equal(settings.mtls, 'permissive');
    assert.equal(settings.routes[0]?.host, '*.tools.svc');
    assert.deepEqual(settings.fallback, { audience: 'downstream-service', scopes: ['a', 'b'], tokenUrl: '' });
    assert.equal(settings.credentialsDir, '/etc/rossoctl/credentials');
  }
});

/** As the kubelet makes it: fields of the pod, keys of the ConfigMap, and `$$` for a dollar sign. */
function environmentOf(env: readonly EnvVar[], data: Readonly<Record<string, string>>): Record<string, string> {
  const fields: Readonly<Record<string, string>> = { POD_NAME: 'weather-1', POD_NAMESPACE: 'team1' };
  const entries = env.map(({ name, value, valueFrom }) => {
    const key = valueFrom?.configMapKeyRef?.key;
    const text = value?.replaceAll('$$', '$') ?? (key === undefined ? (fields[name] ?? 'field') : data[key]);
    return [name, text] as const;
  });
  return Object.fromEntries(entries.filter((entry): entry is [string, string] => entry[1] !== undefined));
}
