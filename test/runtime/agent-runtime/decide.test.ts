/** Observed → Plan, row by row: what each situation writes, says and waits for. */

import assert from 'node:assert/strict';
import test from 'node:test';
import { decide } from '../../../runtime/agent-runtime/decide.ts';
import type { Observed } from '../../../runtime/agent-runtime/observed.ts';
import { annotations, labels, managedBy } from '../../../runtime/api/names.ts';
import type { Layers } from '../../../runtime/config/layers.ts';
import {
  after,
  authBridge,
  configuration,
  enrolledWorkload,
  hash,
  noLayers,
  now,
  observed,
  otherHash,
  pod,
  runtime,
  workload,
} from './fixtures.ts';

interface Row {
  readonly reason: string;
  readonly given: Partial<Observed>;
  readonly phase: 'Pending' | 'Active' | 'Error';
  /** `Type=Status/Reason` of each condition that matters here. */
  readonly says: readonly string[];
  readonly message?: RegExp;
  /** Kind and name of each object applied. */
  readonly applies?: readonly string[];
  /** Reasons of the events. */
  readonly events?: readonly string[];
}

const layerSource = { layer: 'namespace', where: 'ConfigMap team1/defaults, key config.yaml' } as const;
const broken = (kind: 'invalid' | 'unavailable'): Layers => ({
  ...noLayers,
  problems: [{ source: layerSource, kind, line: 3, message: 'ConfigMap team1/defaults, key config.yaml, line 3: bad' }],
});
const gates = (values: Layers['gates'][number]['values']): Layers => ({
  ...noLayers,
  gates: [{ source: { layer: 'platform', where: 'gates' }, values }],
});
const D0 = ['Deployment weather-agent'];
const restricted = { labels: { 'pod-security.kubernetes.io/enforce': 'restricted' }, isTerminating: false };
const proxySidecar = runtime({ spec: { authBridgeMode: 'proxy-sidecar' } });
const waiting = (waitedMs: number, isPaused = false) =>
  ({ kind: 'waiting', waitedMs, lookMs: 600_000, isPaused }) as const;

const rows: readonly Row[] = [
  {
    reason: 'a first enrolment labels at once',
    given: {},
    phase: 'Active',
    says: [
      'TargetResolved=True/TargetFound',
      'ConfigResolved=True/ConfigResolved',
      'Ready=True/Configured',
      'PodsInjected=True/AllInjected',
      'SpiffeReady=True/SpiffeAvailable',
    ],
    message: /^Deployment weather-agent is enrolled as agent\.$/,
    applies: D0,
    events: ['Configured'],
  },
  {
    reason: 'an enrolled workload is left alone',
    given: { target: { found: enrolledWorkload() } },
    phase: 'Active',
    says: ['Ready=True/Configured'],
    applies: [],
  },
  {
    reason: 'RC-02 a missing target is pending, with the next step',
    given: { target: { missing: true } },
    phase: 'Pending',
    says: ['TargetResolved=False/TargetNotFound', 'Ready=False/TargetNotFound', 'ConfigResolved=True/ConfigResolved'],
    message: /Deployment weather-agent does not exist in namespace team1\. Create it/,
    applies: [],
    events: ['TargetNotFound'],
  },
  {
    reason: 'an unsupported kind is for a person to correct',
    given: { target: { unsupported: 'v1 Pod cannot be a target; supported are apps/v1 Deployment' } },
    phase: 'Error',
    says: ['TargetResolved=False/TargetUnsupported', 'Ready=False/TargetUnsupported'],
    message: /supported are apps\/v1 Deployment/,
    applies: [],
    events: ['TargetUnsupported'],
  },
  {
    reason: 'a Job that has started cannot be labelled',
    given: { target: { found: workload({ kind: 'Job', status: { startTime: 'x' } }) } },
    phase: 'Error',
    says: ['TargetResolved=False/TargetImmutable', 'Ready=False/TargetImmutable'],
    message: /spec\.suspend: true/,
    applies: [],
    events: ['TargetImmutable'],
  },
  {
    reason: 'a suspended Job that never started can',
    given: { target: { found: workload({ kind: 'Job', spec: { suspend: true } }) } },
    phase: 'Active',
    says: ['Ready=True/Configured'],
    applies: ['Job weather-agent'],
  },
  {
    reason: 'a Job enrolled in time stays Active after it has started, also when the configuration changes',
    given: { target: { found: enrolledWorkload({ kind: 'Job', hash: otherHash, status: { startTime: 'x' } }) } },
    phase: 'Active',
    says: ['TargetResolved=True/TargetFound', 'Ready=True/Configured'],
    applies: [],
  },
  {
    reason: 'a CronJob takes effect at its next run, without a place in the rollout',
    given: { target: { found: enrolledWorkload({ kind: 'CronJob', hash: otherHash }) } },
    phase: 'Active',
    says: ['Ready=True/Configured'],
    applies: ['CronJob weather-agent'],
  },
  {
    reason: 'RC-07 the younger of two loses and writes nothing',
    given: { rivals: [runtime({ name: 'older', created: '2025-01-01T00:00:00Z' })] },
    phase: 'Error',
    says: ['TargetResolved=True/TargetFound', 'Ready=False/DuplicateTarget'],
    message: /AgentRuntime older is older/,
    applies: [],
    events: ['DuplicateTarget'],
  },
  {
    reason: 'RC-07 the older of two wins',
    given: { rivals: [runtime({ name: 'younger', created: '2026-06-01T00:00:00Z' })] },
    phase: 'Active',
    says: ['Ready=True/Configured'],
    applies: D0,
  },
  {
    reason: 'RC-07 of two of the same second the smaller uid wins',
    given: { rivals: [runtime({ name: 'a' })] },
    phase: 'Error',
    says: ['Ready=False/DuplicateTarget'],
    applies: [],
  },
  {
    reason: 'a broken layer enrols nothing new',
    given: { configuration: configuration(broken('invalid')) },
    phase: 'Error',
    says: ['ConfigResolved=False/ConfigInvalid', 'Ready=False/ConfigInvalid'],
    message: /team1\/defaults, key config\.yaml, line 3/,
    applies: [],
    events: ['ConfigInvalid'],
  },
  {
    reason: 'a broken layer leaves the hash that stands',
    given: {
      configuration: configuration(broken('unavailable')),
      target: { found: enrolledWorkload({ hash: otherHash }) },
    },
    phase: 'Error',
    says: ['ConfigResolved=False/ConfigUnavailable', 'Ready=False/ConfigUnavailable'],
    applies: [],
  },
  {
    reason: 'a stripped label is put back with the hash that stands although a layer is broken',
    given: { configuration: configuration(broken('invalid')), target: { found: workload({ hash: otherHash }) } },
    phase: 'Error',
    says: ['Ready=False/ConfigInvalid'],
    applies: D0,
  },
  {
    reason: 'an ambiguity is a warning and stops nothing',
    given: { configuration: configuration({ ...noLayers, warnings: ['Two ConfigMaps: a, b; a is used'] }) },
    phase: 'Active',
    says: ['ConfigResolved=True/ConfigWarning', 'Ready=True/Configured'],
    applies: D0,
    events: ['ConfigWarning', 'Configured'],
  },
  {
    reason: 'CF-02 a ConfigMap of our name that a person made is never written, and said so',
    given: { authBridge: { ...authBridge(noLayers, true), data: { KEYCLOAK_URL: 'http://mine' } } },
    phase: 'Active',
    says: ['ConfigResolved=True/ConfigWarning'],
    applies: D0,
    events: ['ConfigWarning', 'Configured'],
  },
  {
    reason: 'PM-12 the ConfigMap and the ServiceAccount come before the label',
    given: {
      authBridge: undefined,
      hasServiceAccount: false,
      target: { found: workload({ serviceAccount: 'weather-sa' }) },
    },
    phase: 'Active',
    says: ['Ready=True/Configured'],
    applies: ['ConfigMap rossoctl-authbridge-config', 'ServiceAccount weather-sa', ...D0],
  },
  {
    reason: 'our own ConfigMap follows the configuration',
    given: { target: { found: enrolledWorkload() }, authBridge: { ...authBridge(), data: {} } },
    phase: 'Active',
    says: [],
    applies: ['ConfigMap rossoctl-authbridge-config'],
  },
  {
    reason: 'nothing is created in a namespace that goes',
    given: { authBridge: undefined, namespace: { labels: {}, isTerminating: true } },
    phase: 'Active',
    says: [],
    applies: D0,
  },
  {
    reason: 'Pod Security refuses proxy-init: not labelled, with the way out',
    given: { namespace: restricted },
    phase: 'Error',
    says: ['Ready=False/PodSecurityConflict', 'TargetResolved=True/TargetFound'],
    message: /authBridgeMode: proxy-sidecar/,
    applies: [],
    events: ['PodSecurityConflict'],
  },
  {
    reason: 'Pod Security refuses proxy-init: what is enrolled is not rolled',
    given: { namespace: restricted, target: { found: enrolledWorkload({ hash: otherHash }) } },
    phase: 'Error',
    says: ['Ready=False/PodSecurityConflict'],
    applies: [],
  },
  {
    reason: 'mode proxy-sidecar needs nothing that Pod Security refuses',
    given: { namespace: restricted, runtime: proxySidecar },
    phase: 'Active',
    says: ['Ready=True/Configured'],
    applies: D0,
  },
  {
    reason: 'CF-03 a new hash waits for its turn; a short wait is not told',
    given: { target: { found: enrolledWorkload({ hash: otherHash }) }, place: waiting(100) },
    phase: 'Active',
    says: ['Ready=True/Configured'],
    applies: [],
  },
  {
    reason: 'CF-03 a long wait is RolloutPending',
    given: { target: { found: enrolledWorkload({ hash: otherHash }) }, place: waiting(5_000) },
    phase: 'Pending',
    says: ['Ready=False/RolloutPending'],
    message: /waits for its turn/,
    applies: [],
    events: [],
  },
  {
    reason: 'CF-03 a paused rollout says which setting holds it',
    given: { target: { found: enrolledWorkload({ hash: otherHash }) }, place: waiting(5_000, true) },
    phase: 'Pending',
    says: ['Ready=False/RolloutPending'],
    message: /rollout\.paused/,
    applies: [],
  },
  {
    reason: 'CF-03 with a place the new hash is written',
    given: { target: { found: enrolledWorkload({ hash: otherHash }) }, place: { kind: 'held', leftMs: 600_000 } },
    phase: 'Active',
    says: ['Ready=True/Configured'],
    applies: D0,
  },
  {
    reason: 'CF-03 a workload scaled to zero needs no place',
    given: { target: { found: enrolledWorkload({ hash: otherHash, replicas: 0 }) } },
    phase: 'Active',
    says: ['Ready=True/Configured'],
    applies: D0,
  },
  {
    reason: 'a change of type is immediate',
    given: {
      target: {
        found: enrolledWorkload({ labels: { [labels.type]: 'tool' }, templateLabels: { [labels.type]: 'tool' } }),
      },
    },
    phase: 'Active',
    says: ['Ready=True/Configured'],
    applies: D0,
  },
  {
    reason: 'GO-01 one removal by hand is simply repaired',
    given: { target: { found: enrolledWorkload({ templateLabels: { [labels.type]: '' } }) } },
    phase: 'Active',
    says: ['Ready=True/Configured'],
    applies: D0,
  },
  {
    reason: 'GO-01 a fight pauses us and names the other',
    given: { standing: { kind: 'paused', forMs: 10_000, isNew: true, manager: 'argocd-controller' } },
    phase: 'Error',
    says: ['Ready=False/FieldConflict'],
    message: /^Field manager "argocd-controller" keeps undoing/,
    applies: [],
    events: ['FieldConflict'],
  },
  {
    reason: 'GO-01 on probation we apply and still say so',
    given: { standing: { kind: 'probation', forMs: 120_000, manager: '' } },
    phase: 'Error',
    says: ['Ready=False/FieldConflict'],
    message: /^Another actor keeps/,
    applies: D0,
  },
  {
    reason: 'no CSI driver: enrolled without an identity',
    given: { hasCsiDriver: false },
    phase: 'Active',
    says: ['SpiffeReady=False/SpiffeUnavailable', 'Ready=True/Configured'],
    applies: D0,
    events: ['Configured'],
  },
  {
    reason: 'the gate spiffeHelper off',
    given: { configuration: configuration(gates({ spiffeHelper: false })), target: { found: enrolledWorkload() } },
    phase: 'Active',
    says: ['SpiffeReady=False/SpiffeDisabled'],
  },
  {
    reason: 'the kill switch: enrolled, and said that nothing is injected',
    given: { configuration: configuration(gates({ globalEnabled: false })) },
    phase: 'Active',
    says: ['PodsInjected=False/InjectionOff', 'SpiffeReady=False/SpiffeDisabled', 'Ready=True/Configured'],
    applies: D0,
  },
  {
    reason: 'the opt-out label on the template',
    given: {
      target: { found: enrolledWorkload({ templateLabels: { [labels.inject]: 'disabled' } }) },
      pods: [pod('a', { isInjected: false })],
    },
    phase: 'Active',
    says: ['PodsInjected=False/InjectionOff'],
  },
  {
    reason: 'a tool without injectTools',
    given: { runtime: runtime({ spec: { type: 'tool' } }) },
    phase: 'Active',
    says: ['PodsInjected=False/InjectionOff'],
    applies: D0,
  },
  {
    reason: 'a namespace that does not take part, when the install asks for it',
    given: { needsEnabledNamespace: true },
    phase: 'Active',
    says: ['PodsInjected=False/InjectionOff'],
    applies: D0,
  },
  {
    reason: 'AD-03 bare pods are named',
    given: {
      target: { found: enrolledWorkload() },
      pods: [pod('b', { isInjected: false }), pod('a', { isInjected: false }), pod('c')],
    },
    phase: 'Active',
    says: ['PodsInjected=False/PodsWithoutSidecars'],
    events: ['Configured', 'PodsWithoutSidecars'],
  },
  {
    reason: 'a pod with an older hash, nothing rolling',
    given: { target: { found: enrolledWorkload() }, pods: [pod('a', { hash: otherHash })] },
    phase: 'Active',
    says: ['PodsInjected=False/PodsOutdated'],
  },
  {
    reason: 'during a rollout older pods are expected',
    given: {
      target: { found: enrolledWorkload({ rolling: true }) },
      pods: [pod('a', { hash: otherHash, createdAt: now.toISOString() })],
    },
    phase: 'Active',
    says: ['PodsInjected=True/AllInjected'],
  },
];

for (const row of rows) {
  test(`decide: ${row.reason}`, () => {
    const plan = decide(observed(row.given), now);
    const conditions = (plan.status?.conditions ?? []).map(({ type, status, reason }) => `${type}=${status}/${reason}`);
    assert.equal(plan.status?.phase, row.phase);
    for (const said of row.says) assert.ok(conditions.includes(said), `${said} not in ${conditions.join(' ')}`);
    if (row.message !== undefined) assert.match(plan.status?.message ?? '', row.message);
    const applied = (plan.apply ?? []).map(({ body }) => `${body.kind} ${body.metadata.name}`);
    if (row.applies !== undefined) assert.deepEqual(applied, row.applies);
    if (row.events !== undefined) assert.deepEqual(plan.notices?.map(({ reason }) => reason).sort(), row.events);
  });

  test(`decide is idempotent: ${row.reason}`, () => {
    const before = observed(row.given);
    const next = after(before, decide(before, now));
    const plan = decide(next, new Date(now.getTime() + 1_000));
    assert.deepEqual(plan.apply, []);
    assert.deepEqual(plan.notices, []);
    assert.deepEqual(plan.status, next.runtime.status);
  });
}

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

test('AD-03 at most ten pods are named, sorted, and the text does not count', () => {
  const pods = Array.from({ length: 15 }, (_, i) =>
    pod(`p${String(i).padStart(2, '0')}`, { isInjected: false }),
  ).reverse();
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
