/** The layer that an AgentRuntime is, and the problem that a broken one is. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import type { AgentRuntime } from '../../../runtime/api/agent-runtime.ts';
import { agentRuntimeLayer } from '../../../runtime/config/agent-runtime-layer.ts';
import { isProblem } from '../../../runtime/config/sources.ts';
import { runtime } from './layer-values.ts';

test('an AgentRuntime sets the configuration its fields stand for, and nothing else', () => {
  const spec: Partial<AgentRuntime['spec']> = {
    authBridgeMode: 'proxy-sidecar',
    mtlsMode: 'strict',
    skills: ['forecast'],
    identity: {
      spiffe: { trustDomain: 'prod.example' },
      allowedAudiences: ['api'],
      clientRegistration: {
        provider: 'keycloak',
        keycloak: { url: 'https://sso.example', realm: 'team1', adminCredentialsSecret: 'admin' },
      },
    },
    trace: { endpoint: 'otel:4317', protocol: 'http', sampling: { type: 'always', rate: 1 } },
  };
  assert.deepEqual(agentRuntimeLayer(runtime(spec)), {
    source: { layer: 'agent-runtime', where: 'AgentRuntime team1/weather' },
    values: {
      authBridge: { mode: 'proxy-sidecar' },
      mtls: { mode: 'strict' },
      spiffe: { trustDomain: 'prod.example' },
      identity: {
        allowedAudiences: ['api'],
        provider: 'keycloak',
        url: 'https://sso.example',
        realm: 'team1',
        adminCredentialsSecret: 'admin',
      },
      trace: { endpoint: 'otel:4317', protocol: 'http', sampling: { type: 'always', rate: 1 } },
    },
  });
  assert.deepEqual(agentRuntimeLayer(runtime()), {
    source: { layer: 'agent-runtime', where: 'AgentRuntime team1/weather' },
    values: {},
  });
});

test('an AgentRuntime that bypassed its schema yields a problem in its own terms', () => {
  const cases: readonly (readonly [spec: object, path: string, part: RegExp])[] = [
    [{ mtlsMode: 'sometimes' }, 'spec.mtlsMode', /one of disabled, permissive, strict/],
    [{ identity: 'x' }, 'spec.identity', /must be a section/],
    [{ identity: { allowedAudiences: ['a', 1] } }, 'spec.identity.allowedAudiences[1]', /1 is a number/],
    [{ trace: { sampling: { rate: null } } }, 'spec.trace.sampling.rate', /has no value/],
    [
      { identity: { clientRegistration: { keycloak: [] } } },
      'spec.identity.clientRegistration.keycloak',
      /must be a section/,
    ],
  ];
  for (const [spec, path, part] of cases) {
    const result = agentRuntimeLayer(runtime(spec));
    assert.ok(isProblem(result));
    assert.equal(result.path, path);
    assert.match(result.message, part);
  }
  for (const broken of [undefined, null, 'x', []]) {
    assert.ok(isProblem(agentRuntimeLayer({ ...runtime(), spec: broken as never })));
  }
});

test('any value in any field of an AgentRuntime is a layer or a problem, never an exception', () => {
  fc.assert(
    fc.property(
      fc.object({
        maxDepth: 4,
        key: fc.constantFrom(
          'identity',
          'trace',
          'sampling',
          'spiffe',
          'keycloak',
          'clientRegistration',
          'mtlsMode',
          'rate',
        ),
      }),
      (spec) => {
        agentRuntimeLayer(runtime(spec));
      },
    ),
  );
});
