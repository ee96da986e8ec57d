/** What admission lets pass and warns of: probes by HTTPS, hooks, shared processes, containers that can get past the proxy. */

import assert from 'node:assert/strict';
import test from 'node:test';
import { judged, p0, type PodParts, r0, type SnapshotParts } from './fixtures.ts';

const https = (port: number | string) => ({ httpGet: { path: '/', port, scheme: 'HTTPS' } });
const excluded = { 'rossoctl.io/inbound-ports-exclude': '8443' };

const rows: readonly (readonly [what: string, pod: PodParts, warned: RegExp | undefined])[] = [
  ['an ordinary pod', {}, undefined],
  [
    'a probe by HTTPS',
    { container: { readinessProbe: https(8443) } },
    /^container agent is probed at port 8443 by HTTPS.*inbound-ports-exclude/,
  ],
  [
    'by the name of a port',
    { container: { ports: [{ name: 'tls', containerPort: 8443 }], livenessProbe: https('tls') } },
    /port 8443 by HTTPS/,
  ],
  ['at a port that is excluded', { container: { startupProbe: https(8443) }, annotations: excluded }, undefined],
  [
    'three probes of one port',
    { container: { startupProbe: https(1), livenessProbe: https(1), readinessProbe: https('1') } },
    /port 1 by/,
  ],
  ['a name that no port has', { container: { readinessProbe: https('nothing') } }, undefined],
  [
    'a hook by HTTP',
    { container: { lifecycle: { preStop: { httpGet: { path: '/drain', port: 8080 } } } } },
    /^container agent has a preStop hook that asks port 8080 without a token.*inbound-ports-exclude/,
  ],
  [
    'a hook by HTTPS',
    { container: { lifecycle: { postStart: { httpGet: { path: '/', port: 8443, scheme: 'HTTPS' } } } } },
    /has a postStart hook that asks port 8443/,
  ],
  [
    'a hook at a port that is excluded',
    { container: { lifecycle: { preStop: { httpGet: { port: 8443 } } } }, annotations: excluded },
    undefined,
  ],
  [
    'a hook of somebody else',
    { container: { lifecycle: { preStop: { httpGet: { host: 'x', port: 1 } } } } },
    undefined,
  ],
  ['a hook that runs a command', { container: { lifecycle: { preStop: { exec: {} } as never } } }, undefined],
  ['shared processes', { spec: { shareProcessNamespace: true } }, /^shareProcessNamespace is true.*leave it out$/],
  ['shared processes by name only', { spec: { shareProcessNamespace: false } }, undefined],
  [
    'root',
    { container: { securityContext: { runAsUser: 0 } } },
    /^container agent runs as root and keeps.*drop: \[ALL\]$/,
  ],
  ['root by the pod', { spec: { securityContext: { runAsUser: 0 } } }, /runs as root/],
  [
    'root without capabilities',
    { container: { securityContext: { runAsUser: 0, capabilities: { drop: ['ALL'] } } } },
    undefined,
  ],
  [
    'another user than the pod’s root',
    { spec: { securityContext: { runAsUser: 0 } }, container: { securityContext: { runAsUser: 1000 } } },
    undefined,
  ],
  [
    'a capability',
    { container: { securityContext: { runAsUser: 1000, capabilities: { add: ['CAP_NET_RAW'] } } } },
    /has the capability CAP_NET_RAW,/,
  ],
  [
    'a harmless capability',
    { container: { securityContext: { runAsUser: 1, capabilities: { add: ['CHOWN'] } } } },
    undefined,
  ],
  ['a privileged one', { container: { securityContext: { privileged: true } } }, /^container agent is privileged,/],
];

for (const [what, parts, warned] of rows) {
  test(`warned of, or not: ${what}`, () => {
    const { verdict } = judged({ pod: p0(parts) });
    const warnings = verdict.warnings ?? [];
    if (warned === undefined) assert.deepEqual(warnings, []);
    else {
      assert.equal(warnings.length, 1, warnings.join());
      assert.match(warnings[0] ?? '', warned);
    }
  });
}

test('where nothing is redirected there is nothing to get past', () => {
  const parts: readonly SnapshotParts[] = [
    { gates: { envoyProxy: false } },
    { runtime: r0({ authBridgeMode: 'proxy-sidecar' }) },
  ];
  const pod = p0({ container: { securityContext: { privileged: true }, readinessProbe: https(8443) } });
  for (const each of parts) {
    const { verdict } = judged({ ...each, pod });
    assert.doesNotMatch((verdict.warnings ?? []).join(), /privileged|HTTPS/);
  }
});

test('a pod with a field of another type is refused by its path', () => {
  const pod = p0({ spec: { shareProcessNamespace: 'yes' as unknown as boolean } });
  assert.match(judged({ pod }).verdict.note, /spec\.shareProcessNamespace must be true or false/);
});
