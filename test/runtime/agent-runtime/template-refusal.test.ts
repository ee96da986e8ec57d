/** Workloads whose new pods are certain to be refused: left as they are, in the refusal's own words, by the rules that the webhook has. */

import assert from 'node:assert/strict';
import test from 'node:test';
import { decide } from '../../../runtime/agent-runtime/decide.ts';
import type { Observed } from '../../../runtime/agent-runtime/observed.ts';
import { decisiveParts } from '../../../runtime/agent-runtime/template-refusal.ts';
import { annotations, credentialsSecretName, labels } from '../../../runtime/api/names.ts';
import { rowOf } from '../../../runtime/workload/kinds.ts';
import { type Workload, workloadOf } from '../../../runtime/workload/workload.ts';
import { judged } from '../authbridge/fixtures.ts';
import {
  after,
  configuration,
  enrolledWorkload,
  noLayers,
  now,
  observed,
  otherHash,
  runtime,
  workload,
  type WorkloadShape,
} from './fixtures.ts';
import { gates, proxySidecar, restricted } from './situations.ts';

const agent = { name: 'agent', image: 'example.test/x:1' };
const volume = (name: string, more: object = { emptyDir: {} }) => ({ volumes: [{ name, ...more }] });

/** What is wrong, the template's share of it, the reason, and a word of the remedy. */
const rows: readonly (readonly [what: string, shape: WorkloadShape, reason: string, says: RegExp])[] = [
  ['host network', { podSpec: { hostNetwork: true } }, 'HostNetworkConflict', /authBridgeMode: proxy-sidecar/],
  [
    'a container of our name',
    { podSpec: { containers: [{ ...agent, name: 'envoy-proxy' }] } },
    'ContainerNameTaken',
    /rename/,
  ],
  [
    'an init container of our name',
    { podSpec: { containers: [agent], initContainers: [{ ...agent, name: 'proxy-init' }] } },
    'ContainerNameTaken',
    /proxy-init/,
  ],
  ['a volume of our name', { podSpec: volume('rossoctl-work') }, 'VolumeNameTaken', /rossoctl-work.*rename/],
  [
    'a volume named like the credentials',
    { podSpec: volume(credentialsSecretName('team1', 'weather-agent')) },
    'VolumeNameTaken',
    /rename/,
  ],
  ["the proxy's user on the pod", { podSpec: { securityContext: { runAsUser: 1337 } } }, 'ProxyUidTaken', /runAsUser/],
  [
    "the proxy's user on a container",
    { podSpec: { containers: [{ ...agent, securityContext: { runAsUser: 1337 } }] } },
    'ProxyUidTaken',
    /container agent runs as user 1337/,
  ],
  ['another system', { podSpec: { os: { name: 'windows' } } }, 'UnsupportedOS', /inject: disabled/],
  [
    'ports that are none',
    { templateAnnotations: { [annotations.outboundPortsExclude]: '80,http' } },
    'InvalidAnnotation',
    /"http"/,
  ],
  [
    'a marker that is not true',
    {
      podSpec: { containers: [{ ...agent, name: 'envoy-proxy' }] },
      templateAnnotations: { [annotations.injected]: 'x' },
    },
    'MarkerForged',
    /template/,
  ],
];

/** As the cache has it. */
function kept({ row, object }: Workload): Workload {
  return workloadOf(row, row.watch.keep?.(object) ?? object);
}

const kinds = ['Deployment', 'DaemonSet', 'StatefulSet', 'CronJob'] as const;

for (const [what, shape, reason, says] of rows) {
  test(`not enrolled, and why: ${what}`, () => {
    for (const kind of kinds) {
      const before = observed({ target: { found: kept(workload({ kind, ...shape })) }, authBridge: undefined });
      const plan = decide(before, now);
      assert.deepEqual(plan.apply, []);
      assert.deepEqual(plan.patch, undefined);
      assert.equal(plan.status?.phase, 'Error');
      const ready = plan.status?.conditions?.find(({ type }) => type === 'Ready');
      assert.deepEqual([ready?.status, ready?.reason], ['False', reason]);
      assert.match(ready?.message ?? '', says);
      assert.match(
        ready?.message ?? '',
        /would be refused: .*It is not enrolled until then, and its pods are left alone\.$/,
      );
      assert.deepEqual(
        plan.notices?.map((notice) => notice.reason),
        [reason],
      );
      const again = decide(after(before, plan), now);
      assert.deepEqual([again.apply, again.notices], [[], []]);
    }
  });

  test(`what is enrolled stays enrolled and is not rolled: ${what}`, () => {
    const found = kept(enrolledWorkload({ ...shape, hash: otherHash }));
    const plan = decide(observed({ target: { found } }), now);
    assert.deepEqual([plan.apply, plan.patch], [[], undefined]);
    assert.equal(plan.status?.configHash, otherHash);
    assert.match(
      plan.status?.message ?? '',
      /It stays enrolled, and the operator does not restart its pods until then\.$/,
    );
  });

  test(`the webhook says the same of the pod: ${what}`, () => {
    const found = workload({ templateLabels: { [labels.type]: 'agent' }, ...shape });
    const template = found.row.template(found.object);
    const metadata = { ...template?.metadata, namespace: 'team1', name: 'weather-agent-1' };
    const spec = template?.spec ?? { containers: [] };
    const { verdict } = judged({ pod: { apiVersion: 'v1', kind: 'Pod', metadata, spec } });
    assert.deepEqual([verdict.kind, verdict.reason], ['deny', reason]);
    const said = decide(observed({ target: { found: kept(found) } }), now).status?.message ?? '';
    assert.ok(said.includes(verdict.note), `${said} does not have: ${verdict.note}`);
  });

  test(`its correction is seen: ${what}`, () => {
    assert.notDeepEqual(decisiveParts(kept(workload(shape))), decisiveParts(kept(workload())));
  });
}

const hostNetwork = { found: workload({ podSpec: { hostNetwork: true } }) };
const svid = { found: kept(workload({ podSpec: volume('rossoctl-svid') })) };
const marked = {
  podSpec: { containers: [agent], initContainers: [{ ...agent, name: 'envoy-proxy' }] },
  templateAnnotations: { [annotations.injected]: 'envoy-proxy' },
};
const hostPath = {
  ...noLayers,
  config: [{ source: { layer: 'platform', where: 'p' }, values: { spiffe: { volume: 'hostPath' } } }],
} as const;
const strict = runtime({ spec: { mtlsMode: 'strict' } });

const others: readonly (readonly [what: string, given: Partial<Observed>, reason: string])[] = [
  ['host network without redirection', { target: hostNetwork, runtime: proxySidecar }, 'Configured'],
  [
    'host network without a proxy',
    { target: hostNetwork, configuration: configuration(gates({ envoyProxy: false })) },
    'Configured',
  ],
  [
    'host network with injection off',
    { target: hostNetwork, configuration: configuration(gates({ globalEnabled: false })) },
    'Configured',
  ],
  [
    'host network opted out',
    {
      target: { found: workload({ podSpec: { hostNetwork: true }, templateLabels: { [labels.inject]: 'disabled' } }) },
    },
    'Configured',
  ],
  ['a volume that an application shares the certificates by', { target: svid }, 'Configured'],
  ['a volume of another name', { target: { found: workload({ podSpec: volume('work') }) } }, 'Configured'],
  [
    'a template that claims to be injected, which the webhook compares',
    { target: { found: kept(workload(marked)) } },
    'Configured',
  ],
  ['strict without the CSI driver', { runtime: strict, hasCsiDriver: false }, 'Configured'],
  ['strict with it', { runtime: strict }, 'Configured'],
  [
    'hostPath where Pod Security forbids it',
    { namespace: restricted, runtime: proxySidecar, configuration: configuration(hostPath, proxySidecar) },
    'PodSecurityConflict',
  ],
];
for (const [what, given, reason] of others) {
  test(`${reason}: ${what}`, () => {
    const plan = decide(observed(given), now);
    assert.equal(plan.status?.conditions?.find(({ type }) => type === 'Ready')?.reason, reason);
    assert.equal(plan.apply?.length, reason === 'Configured' ? 1 : 0);
  });
}

test('an object without a template is no reason to fail', () => {
  const row = rowOf({ apiVersion: 'apps/v1', kind: 'Deployment' });
  assert.ok(row);
  const bare = workloadOf(row, {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { namespace: 'team1', name: 'weather-agent', uid: 'u' },
  });
  assert.doesNotThrow(() => decisiveParts(bare));
  assert.equal(decide(observed({ target: { found: bare } }), now).status?.phase, 'Active');
});
