/** Pods that claim to be injected and only look like it: each is refused in words that name what differs. */

import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import test from 'node:test';
import type { Container, Pod } from '../../../runtime/api/kubernetes.ts';
import { injectedPod, judged, p0, r0, type SnapshotParts } from './fixtures.ts';
import { changed, envWith, withAnnotation, without, withSpec } from './injected-pods.ts';

const proxySidecar = r0({ authBridgeMode: 'proxy-sidecar' });
const forger: Container = {
  name: 'envoy-proxy',
  image: 'evil.test/x:1',
  restartPolicy: 'Always',
  volumeMounts: [{ name: 'rossoctl-work', mountPath: '/w' }],
};
const forged = (marker: string, initContainers: readonly Container[]): Pod =>
  p0({
    annotations: { 'rossoctl.io/injected': marker },
    spec: { initContainers, volumes: [{ name: 'rossoctl-work', emptyDir: {} }] },
  });

const forgeries: readonly (readonly [what: string, pod: Pod, words: RegExp, parts?: SnapshotParts])[] = [
  ['a name, a place and a volume, as a marker would have it', forged('envoy-proxy', [forger]), /proxy-init/],
  ['the same where nothing is redirected', forged('envoy-proxy', [forger]), /SPIFFE/, { runtime: proxySidecar }],
  [
    'the same where nothing but the proxy is injected',
    forged('envoy-proxy', [forger]),
    /image "evil/,
    { runtime: proxySidecar, gates: { spiffeHelper: false, clientRegistration: false } },
  ],
  [
    'all the containers by name',
    forged('proxy-init,envoy-proxy', [{ name: 'proxy-init', image: 'evil.test/x:1' }, forger]),
    /SPIFFE identity/,
  ],
  ['another image', changed('envoy-proxy', { image: 'evil.test/rossoctl/rossoctl-sidecar:0.1.0' }), /image "evil/],
  [
    'an image that begins like ours',
    changed('envoy-proxy', { image: 'ghcr.io/rossoctl/rossoctl-sidecar-x:1' }),
    /image/,
  ],
  ['the image of the operator', changed('proxy-init', { image: 'ghcr.io/rossoctl/rossoctl:0.1.0' }), /image/],
  ['a command', changed('envoy-proxy', { command: ['sleep', 'infinity'] }), /command/],
  ['other arguments', changed('proxy-init', { args: ['true'] }), /args/],
  ['no arguments', changed('proxy-init', { args: [] }), /args/],
  ['a hook', changed('envoy-proxy', { lifecycle: { postStart: { exec: { command: ['x'] } } } }), /lifecycle/],
  ['an environment from elsewhere', changed('envoy-proxy', { envFrom: [{ secretRef: { name: 'x' } }] }), /envFrom/],
  [
    'another user',
    changed('envoy-proxy', (c) => ({ securityContext: { ...c.securityContext, runAsUser: 0 } })),
    /security/,
  ],
  ['no privileges for the redirection', changed('proxy-init', { securityContext: {} }), /securityContext/],
  ['an init container that ends', changed('envoy-proxy', { restartPolicy: undefined }), /restartPolicy/],
  [
    'every port excluded',
    changed('proxy-init', envWith('OUTBOUND_PORTS_EXCLUDE', '1-65535')),
    /OUTBOUND_PORTS_EXCLUDE/,
  ],
  ['another user let through', changed('proxy-init', envWith('PROXY_UID', '10001')), /PROXY_UID/],
  ['the application’s port let through', changed('proxy-init', envWith('HEALTH_PORT', '8080')), /HEALTH_PORT/],
  ['no mutual TLS', changed('envoy-proxy', envWith('MTLS_MODE', 'disabled')), /MTLS_MODE/],
  ['another issuer', changed('envoy-proxy', envWith('ISSUER', 'http://evil.test')), /ISSUER/],
  [
    'a value set twice',
    changed('envoy-proxy', (c) => ({ env: [...(c.env ?? []), { name: 'MTLS_MODE', value: 'disabled' }] })),
    /MTLS_MODE/,
  ],
  ['no environment', changed('envoy-proxy', { env: [] }), /variable/],
  ['code loaded from elsewhere', changed('envoy-proxy', envWith('LD_PRELOAD', '/x.so')), /LD_PRELOAD/],
  [
    'something mounted over the program',
    changed('envoy-proxy', (c) => ({
      volumeMounts: [...(c.volumeMounts ?? []), { name: 'v', mountPath: '/usr/bin' }],
    })),
    /mount \/usr\/bin/,
  ],
  ['a mount less', changed('envoy-proxy', (c) => ({ volumeMounts: c.volumeMounts?.slice(1) })), /mount/],
  [
    'a mount of a part',
    changed('envoy-proxy', (c) => ({ volumeMounts: c.volumeMounts?.map((each) => ({ ...each, subPath: 'x' })) })),
    /mount/,
  ],
  [
    'a volume of another kind',
    withSpec(({ volumes = [] }) => ({
      volumes: volumes.map((each) => (each.csi ? { name: each.name, hostPath: { path: '/tmp' } } : each)),
    })),
    /volume rossoctl-spiffe-socket/,
  ],
  [
    'credentials of another workload',
    withSpec(({ volumes = [] }) => ({
      volumes: volumes.map((each) => (each.secret ? { ...each, secret: { ...each.secret, secretName: 'x' } } : each)),
    })),
    /volume rossoctl-keycloak/,
  ],
  [
    'the redirection left out',
    ((pod: Pod) => ({
      ...pod,
      metadata: {
        ...pod.metadata,
        annotations: { ...pod.metadata.annotations, 'rossoctl.io/injected': 'envoy-proxy' },
      },
    }))(withSpec(({ initContainers }) => ({ initContainers: without('proxy-init')(initContainers) }))),
    /no container proxy-init, which is injected now/,
  ],
  [
    'an init container of the application before the redirection',
    withSpec(({ initContainers = [] }) => ({ initContainers: [{ name: 'setup', image: 'x' }, ...initContainers] })),
    /proxy-init does not come first/,
  ],
  [
    'proxy-init as an ordinary container',
    withSpec(({ initContainers = [], containers }) => ({
      initContainers: initContainers.slice(1),
      containers: [...containers, ...initContainers.slice(0, 1)],
    })),
    /does not come first/,
  ],
  ['no hash', withAnnotation('rossoctl.io/config-hash', ''), /config-hash/],
  ['a hash that is none', withAnnotation('rossoctl.io/defaults-hash', 'x'), /defaults-hash/],
  ['another Secret', withAnnotation('rossoctl.io/keycloak-client-credentials-secret-name', 'x'), /another Secret/],
  [
    'a container less than the marker says',
    withSpec(({ initContainers }) => ({ initContainers: without('proxy-init')(initContainers) })),
    /no container proxy-init/,
  ],
  ['made without identity, which is wanted now', injectedPod({ gates: { spiffeHelper: false } }), /no SPIFFE identity/],
  [
    'made without a proxy, which is wanted now',
    injectedPod({ gates: { envoyProxy: false } }),
    /no container proxy-init/,
  ],
  [
    'made without credentials, which are wanted now',
    injectedPod({ gates: { clientRegistration: false } }),
    /no OAuth client credentials/,
  ],
  ['made for less than strict', injectedPod(), /MTLS_MODE/, { runtime: r0({ mtlsMode: 'strict' }) }],
  [
    'printed by a release whose proxy knew other variables',
    changed('envoy-proxy', ({ env = [] }) => ({ env: env.filter(({ name }) => name !== 'PLAIN_TCP') })),
    /variable PLAIN_TCP/,
  ],
  [
    'made by a platform with images of its own',
    injectedPod({ config: { images: { envoyProxy: 'old.test/e:1' } } }),
    /image "old.test/,
  ],
];
for (const [what, pod, words, parts = {}] of forgeries) {
  test(`forged: ${what}`, () => {
    const { verdict, steps } = judged({ ...parts, pod });
    assert.deepEqual([verdict.kind, verdict.reason], ['deny', 'MarkerForged'], verdict.note);
    assert.match(verdict.note, words);
    assert.match(
      verdict.note,
      /remove the annotation and those containers.*printed again .* with the release of the operator$/,
    );
    assert.equal(steps.at(-1)?.passed, false);
  });
}

/** Names of variables in the sidecar's sources: `read.text('ISSUER')`, `env['IPTABLES_BACKEND']`. */
function variablesRead(): readonly string[] {
  const sources = globSync('runtime/sidecar/**/*.ts').map((file) => readFileSync(file, 'utf8'));
  const names = sources.flatMap((source) =>
    [...source.matchAll(/(?:read\.\w+\(|\(read, |env\[)\s*'([A-Z_]+)'/g)].map(([, name = '']) => name),
  );
  return [...new Set(names)];
}

const unlike = (name: string) => judged({ pod: changed('envoy-proxy', envWith(name, '/x')) }).verdict;

test('forged: any variable that our programs read, with another value', () => {
  const names = variablesRead();
  assert.ok(names.length > 30, names.join(' '));
  const missed = names.filter((name) => !unlike(name).note.includes(`variable ${name}`));
  assert.deepEqual(missed, []);
});

const others = {
  'changes what Node runs and trusts': [
    'NODE_OPTIONS',
    'NODE_EXTRA_CA_CERTS',
    'NODE_TLS_REJECT_UNAUTHORIZED',
    'OPENSSL_CONF',
  ],
  'changes which code iptables loads, with the rights of proxy-init': [
    'XTABLES_LIBDIR',
    'IPTABLES_LIB_DIR',
    'IP6TABLES_LIB_DIR',
    'GCONV_PATH',
  ],
  'changes whom a name leads to': ['HOSTALIASES', 'LOCALDOMAIN', 'RES_OPTIONS'],
};
for (const [what, names] of Object.entries(others))
  for (const name of names)
    test(`forged: ${name}, which ${what}`, () => assert.match(unlike(name).note, new RegExp(`variable ${name}`)));

test('telemetry, proxies and cloud identities of others are no forgery', () => {
  for (const name of ['OTEL_SERVICE_NAME', 'HTTPS_PROXY', 'AWS_ROLE_ARN', 'KUBERNETES_SERVICE_HOST', 'TZ'])
    assert.equal(unlike(name).kind, 'allow', name);
});

test('a container of the application as the proxy’s user bypasses it, with a marker as without', () => {
  const pod = withSpec(({ containers }) => ({
    containers: containers.map((each) => ({ ...each, securityContext: { runAsUser: 1337 } })),
  }));
  assert.equal(judged({ pod }).verdict.reason, 'ProxyUidTaken');
});

test('a forgery where no AgentRuntime is, is nobody’s pod: admitted, and nothing is said of sidecars', () => {
  assert.equal(judged({ pod: forged('envoy-proxy', [forger]), runtime: undefined }).verdict.kind, 'allow');
});
