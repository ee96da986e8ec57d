/** Settings that would keep every new pod from being made or from starting, or mount what must not be mounted: refused with path and sentence. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import type { LayerSource } from '../../../runtime/config/layers.ts';
import { isProblem, parseConfig } from '../../../runtime/config/sources.ts';
import { agentRuntimeLayer } from '../../../runtime/config/agent-runtime-layer.ts';
import { namespaceSource, platformSource, runtime } from './layer-values.ts';

const fileSource: LayerSource = { layer: 'file', where: 'file /etc/rossoctl/config.yaml' };

function refusal(section: object, source: LayerSource = platformSource) {
  const result = parseConfig(JSON.stringify(section), source);
  return isProblem(result) ? result : undefined;
}

const sockets: readonly (readonly [path: string, isTaken: boolean])[] = [
  ['unix:///run/spire/agent-sockets/agent.sock', true],
  ['unix:///run/spire/agent.sock', true],
  ['unix:///var/run/spire/agent.sock', true],
  ['unix:///tmp/spire-agent/public/api.sock', true],
  ['unix:///opt/spire_agent/a..b/api-1.sock', true],
  ['unix:///etc/../../x.sock', false],
  ['unix:///../../etc', false],
  ['unix:///etc/..', false],
  ['unix:///run/spire/../../x.sock', false],
  ['unix:///run/./spire/x.sock', false],
  ['unix:///run/spire/..', false],
  ['unix:///run/spire/.', false],
  ['unix:///run/.ssh/x.sock', false],
  ['unix:///$(HOME)/x.sock', false],
  ['unix:///run/$(HOME)/x.sock', false],
  ['unix:///run/$HOME/x.sock', false],
  ['unix:///run//spire/x.sock', false],
  ['unix:////run/spire/x.sock', false],
  ['unix:///run/spire/', false],
  ['unix:///x.sock', false],
  ['unix:///run/x.sock', false],
  ['unix:///var/run/x.sock', false],
  ['unix:///etc/kubernetes/x.sock', false],
  ['unix:///usr/bin/x.sock', false],
  ['unix:///proc/1/x.sock', false],
  ['unix:///run/rossoctl/agent.sock', false],
  ['unix:///var/run/rossoctl/agent.sock', false],
  ['unix:///run/secrets/kubernetes.io/x.sock', false],
  ['unix://run/spire/x.sock', false],
  ['unix:/run/spire/x.sock', false],
  ['/run/spire/agent.sock', false],
  ['tcp:///run/spire/x.sock', false],
  ['unix:///run/spi re/x.sock', false],
  ['unix:///run/spire:rw/x.sock', false],
  ['unix:///run/spire\\x/x.sock', false],
  ['unix:///run/spire/x.sock\n', false],
  ['unix:///run/spi\u0000re/x.sock', false],
  [`unix:///run/${'x'.repeat(90)}/a.sock`, true],
  [`unix:///run/${'x'.repeat(97)}/a.sock`, false],
];
for (const [socketPath, isTaken] of sockets) {
  test(`spiffe.socketPath ${JSON.stringify(socketPath.slice(0, 60))} is ${isTaken ? 'taken' : 'refused'}`, () => {
    for (const volume of ['csi', 'hostPath']) {
      const found = refusal({ spiffe: { socketPath, volume } });
      assert.equal(found === undefined, isTaken, found?.message ?? 'taken');
      if (isTaken) continue;
      assert.equal(found?.path, 'spiffe.socketPath');
      assert.match(found?.message ?? '', /absolute path of letters.*for example unix:\/\/\/run\/spire/);
      assert.doesNotMatch(found?.message ?? '', /\^unix/);
    }
  });
}

test('property: whatever socket path is taken, its folder is at least two levels deep, normalised and literal', () => {
  const part = fc.constantFrom('run', 'var', 'etc', 'spire', '..', '.', '', '.x', '$(A)', 'a b', 'rossoctl', 'x.sock');
  fc.assert(
    fc.property(fc.array(part, { maxLength: 6 }), (parts) => {
      const socketPath = `unix:///${parts.join('/')}`;
      if (refusal({ spiffe: { socketPath } }) !== undefined) return;
      const folder = parts.slice(0, -1);
      assert.ok(folder.length >= 2, socketPath);
      assert.ok(
        parts.every((one) => /^[A-Za-z0-9_-][A-Za-z0-9._-]*$/.test(one)),
        socketPath,
      );
      assert.notEqual(folder[0], 'etc');
    }),
    { numRuns: 2_000 },
  );
});

test('a namespace cannot choose the folder of the node that is mounted, whatever the volume; file and platform can', () => {
  for (const volume of [{}, { volume: 'csi' }, { volume: 'hostPath' }]) {
    const section = { spiffe: { socketPath: 'unix:///run/spire/agent.sock', ...volume } };
    const found = refusal(section, namespaceSource);
    assert.equal(found?.path, 'spiffe.socketPath');
    assert.match(found?.message ?? '', /is the platform's alone; a namespace cannot set it/);
    for (const source of [platformSource, fileSource]) assert.equal(refusal(section, source), undefined);
  }
});

const images: readonly (readonly [image: string, isTaken: boolean])[] = [
  ['envoy', true],
  ['envoy:v1.30_x', true],
  ['ghcr.io/rossoctl/rossoctl-sidecar:0.1.0', true],
  ['localhost:5000/a/b__c/d-e.f', true],
  ['[fd00::1]:5000/envoy:1', true],
  [`ghcr.io/x/envoy@sha256:${'a'.repeat(64)}`, true],
  [`ghcr.io/x/envoy:1@sha256:${'a'.repeat(64)}`, true],
  ['ghcr.io/Rossoctl/envoy', false],
  ['envoy:', false],
  ['envoy:a:b', false],
  ['envoy@sha256:abc', false],
  ['https://ghcr.io/x/envoy', false],
  ['/envoy', false],
  ['a//b', false],
  ['$(IMAGE)', false],
  ['-x', false],
];
for (const [image, isTaken] of images) {
  test(`image ${image.slice(0, 40)} is ${isTaken ? 'taken' : 'refused'}`, () => {
    const found = refusal({ images: { envoyProxy: image } });
    assert.equal(found === undefined, isTaken, found?.message ?? 'taken');
    if (!isTaken) assert.equal(found?.path, 'images.envoyProxy');
  });
}

const unfit: readonly (readonly [what: string, section: object, path: string, words: RegExp])[] = [
  [
    'an audience',
    { tokenExchange: { audience: 'a\u0000b' } },
    'tokenExchange.audience',
    /control character; remove it/,
  ],
  ['a scope', { tokenExchange: { scopes: ['ok', 'a\nb'] } }, 'tokenExchange.scopes[1]', /control character/],
  ['a realm', { identity: { realm: 'a\u0001b' } }, 'identity.realm', /control character/],
  ['a URL', { identity: { url: 'http://a\u0001b' } }, 'identity.url', /control character/],
  [
    'a resource of no such name',
    { resources: { envoyProxy: { limits: { 'no such': '1' } } } },
    'resources.envoyProxy.limits',
    /"no such" is no resource; must be cpu, memory/,
  ],
  [
    'a resource without a domain',
    { resources: { spiffeHelper: { requests: { gpu: '1' } } } },
    'resources.spiffeHelper.requests',
    /"gpu" is no resource/,
  ],
];
for (const [what, section, path, words] of unfit) {
  test(`${what} with which no pod could be made or started is refused`, () => {
    for (const source of [platformSource, namespaceSource]) {
      const found = refusal(section, source);
      assert.equal(found?.path, path);
      assert.match(found?.message ?? '', words);
    }
  });
}

test('an AgentRuntime’s texts are looked at in the same way, and named by its own fields', () => {
  const identity = { clientRegistration: { provider: 'keycloak', keycloak: { realm: 'a\u0001b' } } } as const;
  const found = agentRuntimeLayer(runtime({ identity }));
  assert.ok(isProblem(found));
  assert.equal(found.path, 'spec.identity.clientRegistration.keycloak.realm');
  assert.match(found.message, /control character/);
});

test('a dollar sign is text: it reaches a pod doubled, and is refused nowhere but where a path is made of it', () => {
  assert.equal(refusal({ tokenExchange: { audience: '$(HOME)' } }), undefined);
});
