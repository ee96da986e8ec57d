/** Observed → Plan: what the tables of decisions cannot say, each in a test of its own. */

import assert from 'node:assert/strict';
import test from 'node:test';
import { decide } from '../../../runtime/agent-runtime/decide.ts';
import type { Observed } from '../../../runtime/agent-runtime/observed.ts';
import type { Layers } from '../../../runtime/config/layers.ts';
import { annotations, labels, managedBy } from '../../../runtime/api/names.ts';
import {
  after,
  configuration,
  enrolledWorkload,
  hash,
  inKubeSystem,
  noLayers,
  now,
  observed,
  otherHash,
  pod,
  runtime,
  workload,
} from './fixtures.ts';
import { layerSource, broken, waiting } from './situations.ts';

const bodyOf = (given: Partial<Observed>) => decide(observed(given), now).apply?.at(-1)?.body;

test('decide: the fragment holds the type, the hash and managed-by, and nothing else (RC-01)', () => {
  assert.deepEqual(bodyOf({}), {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: {
      namespace: 'team1',
      name: 'weather-agent',
      uid: 'uid-d0',
      labels: { [labels.type]: 'agent', [labels.managedBy]: managedBy },
    },
    spec: {
      template: { metadata: { labels: { [labels.type]: 'agent' }, annotations: { [annotations.configHash]: hash } } },
    },
  });
});

test('GO-02 managed-by of Helm or Pulumi is neither taken nor missed', () => {
  for (const other of ['Helm', 'pulumi']) {
    const body = bodyOf({ target: { found: workload({ labels: { [labels.managedBy]: other } }) } });
    assert.deepEqual(body?.metadata.labels, { [labels.type]: 'agent' });
    const settled = enrolledWorkload({ labels: { [labels.managedBy]: other } });
    assert.deepEqual(decide(observed({ target: { found: settled } }), now).apply, []);
  }
});

test('PM-08 the SPIFFE ID follows the template and the effective trust domain', () => {
  const idOf = (given: Partial<Observed>) => decide(observed(given), now).status?.identity?.spiffeId;
  assert.equal(idOf({}), 'spiffe://cluster.local/ns/team1/sa/default');
  const named = { target: { found: workload({ serviceAccount: 'weather-sa' }) } };
  assert.equal(idOf(named), 'spiffe://cluster.local/ns/team1/sa/weather-sa');
  const own = runtime({ spec: { identity: { spiffe: { trustDomain: 'prod.example' } } } });
  assert.equal(idOf({ runtime: own }), 'spiffe://prod.example/ns/team1/sa/default');
  assert.equal(idOf({ hasCsiDriver: false }), undefined);
});

test('a targetRef that changed: the old workload is released first, in a pass of its own', () => {
  const former = enrolledWorkload({ name: 'old', uid: 'uid-old' });
  const plan = decide(observed({ former }), now);
  assert.deepEqual(Object.keys(plan).sort(), ['afterMs', 'patch']);
  assert.equal(plan.patch?.[0]?.target.uid, 'uid-old');
  const next = decide(observed({ former: workload({ name: 'old', uid: 'uid-old' }) }), now);
  assert.deepEqual(next.patch, undefined);
  assert.equal(next.status?.target?.name, 'weather-agent');
});

test('what was enrolled in a system namespace is released, and then told', () => {
  const target = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'weather-agent', uid: 'uid-d0' };
  const given: readonly Partial<Observed>[] = [
    { target: { found: enrolledWorkload() } },
    // The template was restored by somebody; the label on the workload is still ours.
    {
      runtime: inKubeSystem({ status: { target } }),
      target: { found: workload({ labels: { [labels.type]: 'agent' } }) },
    },
    { target: { found: enrolledWorkload({ kind: 'Job', status: { startTime: 'x' } }) } },
  ];
  for (const one of given) {
    const before = observed({ runtime: inKubeSystem(), ...one });
    const plan = decide(before, now);
    assert.deepEqual(Object.keys(plan).sort(), ['afterMs', 'patch']);
    assert.equal(plan.patch?.[0]?.target.uid, 'uid-d0');
    const next = after(before, plan);
    assert.deepEqual(decide(next, now).patch, undefined);
    assert.equal(decide(next, now).status?.message?.startsWith('kube-system is'), true);
  }
});

test('AD-03 at most ten pods are named, sorted, and the text does not count', () => {
  const pods = Array.from({ length: 15 }, (_, i) =>
    pod(`p${String(i).padStart(2, '0')}`, { isInjected: false }),
  ).toReversed();
  const plan = decide(observed({ target: { found: enrolledWorkload() }, pods }), now);
  const said = plan.status?.conditions?.find(({ type }) => type === 'PodsInjected')?.message ?? '';
  assert.match(said, /: p00, p01, p02, p03, p04, p05, p06, p07, p08, p09 and more\./);
  assert.equal(plan.status?.configuredPods, 0);
});

test('RC-06 pods coming and going during a rollout change no status; afterwards they are counted', () => {
  const status = {
    target: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'weather-agent', uid: 'uid-d0' },
    configuredPods: 2,
  };
  const given = (rolling: boolean, createdAt: string): Partial<Observed> => ({
    runtime: runtime({ status }),
    target: { found: enrolledWorkload({ rolling }) },
    pods: [pod('a'), pod('b'), pod('c', { createdAt })],
  });
  const during = decide(observed(given(true, '2026-01-01T11:59:50Z')), now);
  assert.equal(during.status?.configuredPods, 2);
  assert.equal(during.afterMs, 50_000);
  assert.equal(decide(observed(given(true, '2026-01-01T11:58:59Z')), now).status?.configuredPods, 3);
  assert.equal(decide(observed(given(false, '2026-01-01T11:59:50Z')), now).status?.configuredPods, 3);
});

test('RC-06 a new hash is one status write: pods of the old one are expected until those of the new one have settled', () => {
  const status = { target: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'weather-agent', uid: 'uid-d0' } };
  const of = runtime({ status: { ...status, configuredPods: 1 } });
  const old = pod('old', { hash: otherHash });
  const found = enrolledWorkload({ hash: otherHash });
  const applied = observed({ runtime: of, target: { found }, pods: [old], place: { kind: 'held', leftMs: 9e5 } });
  const first = decide(applied, now);
  const rolling = { ...after(applied, first), target: { found: enrolledWorkload({ rolling: true }) } };
  const both = { ...rolling, pods: [old, pod('new', { createdAt: now.toISOString() })] };
  const done = {
    ...both,
    target: { found: enrolledWorkload() },
    pods: both.pods.slice(1),
    place: { kind: 'none' },
  } as const;
  for (const state of [rolling, both, done]) assert.deepEqual(decide(state, now).status, first.status);
});

test('OB-02 one event a change: 100 passes in one state write one', () => {
  let state = observed({ target: { missing: true } });
  let events = 0;
  for (let pass = 0; pass < 100; pass += 1) {
    const plan = decide(state, new Date(now.getTime() + pass * 1000));
    events += plan.notices?.length ?? 0;
    state = after(state, plan);
  }
  assert.equal(events, 1);
});

test('OB-02 another broken line under the same reason is news; the end of a wait for a place is not', () => {
  const first = observed({ configuration: configuration(broken('invalid')) });
  const second = after(first, decide(first, now));
  const other: Layers = { ...noLayers, problems: [{ source: layerSource, kind: 'invalid', message: 'line 4: worse' }] };
  const plan = decide({ ...second, configuration: configuration(other) }, now);
  assert.deepEqual(
    plan.notices?.map(({ reason }) => reason),
    ['ConfigInvalid'],
  );
  const pending = observed({ target: { found: enrolledWorkload({ hash: otherHash }) }, place: waiting(6_000) });
  const granted = { ...after(pending, decide(pending, now)), place: { kind: 'held', leftMs: 1 } } as const;
  assert.deepEqual(decide(granted, now).notices, []);
});
