/** The decision: every reason to allow or deny, a row each. */

import assert from 'node:assert/strict';
import test from 'node:test';
import type { Reason } from '../../../runtime/authbridge/snapshot.ts';
import { judged, layers, p0, r0, type SnapshotParts } from './fixtures.ts';

const problem = {
  source: { layer: 'namespace', where: 'ConfigMap team1/defaults, key config.yaml' },
  kind: 'invalid',
  message: 'ConfigMap team1/defaults, key config.yaml: line 3: trce: unknown key',
} as const;
const labelled = (labels: Record<string, string>) => p0({ labels });
const noContainers = { envoyProxy: false, spiffeHelper: false, clientRegistration: false };

const rows: readonly (readonly [string, SnapshotParts, 'allow' | 'deny' | 'mutate', Reason, RegExp?])[] = [
  ['P0 with R0', {}, 'mutate', 'Injected', /proxy-init, envoy-proxy/],
  ['an update', { operation: 'UPDATE' }, 'allow', 'NotACreate'],
  ['a deletion', { operation: 'DELETE', pod: undefined }, 'allow', 'NotACreate'],
  ['no object', { pod: undefined }, 'allow', 'NotAPod'],
  ['no type label', { pod: { ...p0(), metadata: {} } }, 'allow', 'NotLabelled'],
  ['another type', { pod: labelled({ 'rossoctl.io/type': 'Agent' }) }, 'allow', 'NotLabelled', /"Agent"/],
  ['a tool, gate off', { pod: labelled({ 'rossoctl.io/type': 'tool' }) }, 'allow', 'ToolsNotInjected'],
  [
    'a tool, gate on',
    { pod: labelled({ 'rossoctl.io/type': 'tool' }), gates: { injectTools: true } },
    'mutate',
    'Injected',
  ],
  ['opted out', { pod: labelled({ 'rossoctl.io/inject': 'disabled' }) }, 'allow', 'OptedOut'],
  ['an opt-out of another value', { pod: labelled({ 'rossoctl.io/inject': 'enabled' }) }, 'mutate', 'Injected'],
  ['kill switch', { gates: { globalEnabled: false, injectTools: true } }, 'allow', 'InjectionOff'],
  [
    'kill switch although a layer is broken',
    { layers: { ...layers({ globalEnabled: false }), problems: [problem] } },
    'allow',
    'InjectionOff',
  ],
  ['AD-01 a system namespace', { namespace: 'kube-system' }, 'allow', 'SystemNamespace'],
  ['AD-01 the operator namespace', { namespace: 'agents', operatorNamespace: 'agents' }, 'allow', 'SystemNamespace'],
  ['no AgentRuntime', { runtime: undefined }, 'allow', 'NoAgentRuntime', /create one/],
  ['all components off by gate', { gates: noContainers }, 'allow', 'NothingToInject', /feature gate envoyProxy is off/],
  [
    'all components off by label',
    { pod: labelled({ 'rossoctl.io/envoy-proxy-inject': 'false', 'rossoctl.io/spiffe-helper-inject': 'false' }) },
    'allow',
    'NothingToInject',
  ],
  [
    'a broken layer',
    { layers: { ...layers(), problems: [problem] } },
    'deny',
    'ConfigInvalid',
    /team1\/defaults, key config.yaml: line 3: trce/,
  ],
  [
    'a broken layer, no AgentRuntime',
    { runtime: undefined, layers: { ...layers(), problems: [problem] } },
    'allow',
    'NoAgentRuntime',
  ],
  [
    'a tool while gates cannot be read',
    {
      pod: labelled({ 'rossoctl.io/type': 'tool' }),
      layers: {
        ...layers(),
        problems: [
          { ...problem, source: { layer: 'platform', where: 'ConfigMap rossoctl-system/rossoctl-feature-gates' } },
        ],
      },
    },
    'deny',
    'ConfigInvalid',
  ],
  [
    'an AgentRuntime that bypassed its schema',
    { runtime: r0({ mtlsMode: 'sometimes' as never }) },
    'deny',
    'ConfigInvalid',
    /mtlsMode/,
  ],
];

for (const [what, parts, kind, reason, note] of rows) {
  test(`${what} → ${kind} ${reason}`, () => {
    const { verdict, steps } = judged(parts);
    assert.deepEqual([verdict.kind, verdict.reason], [kind, reason]);
    assert.match(verdict.note, note ?? /./);
    assert.ok(kind === 'mutate' || steps.every(({ passed }, at) => passed || at === steps.length - 1));
  });
}
