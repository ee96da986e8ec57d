/** Decisions about pods that do not come: refused, lacking, or from before the enrolment. Nothing unprotected is ever called protected. */

import assert from 'node:assert/strict';
import test from 'node:test';
import * as fc from 'fast-check';
import { decide } from '../../../runtime/agent-runtime/decide.ts';
import type { Observed } from '../../../runtime/agent-runtime/observed.ts';
import type { Snag, SnagKind } from '../../../runtime/agent-runtime/snags.ts';
import type { PodCounts } from '../../../runtime/workload/pod-counts.ts';
import { expectRows } from './decide-rows.ts';
import { after, configuration, enrolledWorkload, now, observed, otherHash, pod, runtime } from './fixtures.ts';
import { broken, gates, waiting } from './situations.ts';

const words = 'admission webhook "inject.rossoctl.io" denied the request: rename envoy-proxy';
const counts = (over: Partial<PodCounts> = {}): PodCounts => ({
  wanted: 1,
  existing: 1,
  lacking: { kind: 'Deployment', name: 'weather-agent' },
  refusal: undefined,
  ...over,
});
const snag = (kind: SnagKind, lastedMs: number, graceMs = 5_000): Snag => ({ kind, lastedMs, graceMs });
const rolling = { found: enrolledWorkload({ rolling: true }) };
const steady = { found: enrolledWorkload() };
const isRefused = { target: rolling, counts: counts({ refusal: words }), unseen: 1 };
const isLacking = { target: rolling, counts: counts(), unseen: 1 };
const hasOlder = { target: steady, counts: counts({ lacking: undefined }), unseen: 1, snag: snag('unseen', 5_000) };

expectRows([
  {
    reason: 'every new pod is refused and the old one runs on: the refusal’s sentence, and an error',
    given: { ...isRefused, snag: snag('refused', 5_000) },
    phase: 'Error',
    says: ['Ready=False/PodsRefused', 'PodsInjected=False/PodsRefused', 'TargetResolved=True/TargetFound'],
    message:
      /^New pods of Deployment weather-agent are refused: .*rename envoy-proxy\. Correct.* from before its enrolment run on/,
    applies: [],
    events: ['PodsRefused'],
  },
  {
    reason: 'no pod runs at all: nothing is said of older ones',
    given: { ...isRefused, unseen: 0, snag: snag('refused', 5_000) },
    phase: 'Error',
    says: ['Ready=False/PodsRefused'],
    message: /goes on trying\.$/,
  },
  {
    reason: 'a refusal of a moment ago is not told yet, and nothing is called protected meanwhile',
    given: { ...isRefused, snag: snag('refused', 4_999) },
    phase: 'Active',
    says: ['Ready=True/Configured', 'PodsInjected=Unknown/PodsAwaited'],
  },
  {
    reason: 'a kind that gives no reason: no new pod within the minute, and where to look',
    given: {
      target: { found: enrolledWorkload({ kind: 'StatefulSet', rolling: true }) },
      counts: counts({ lacking: { kind: 'StatefulSet', name: 'weather-agent' } }),
      unseen: 1,
      snag: snag('lacking', 60_000, 60_000),
    },
    phase: 'Pending',
    says: ['Ready=False/RolloutStalled', 'PodsInjected=False/RolloutStalled'],
    message: /kubectl describe statefulset weather-agent -n team1\. Pods from before its enrolment run on/,
    events: ['RolloutStalled'],
  },
  {
    reason: 'a CronJob: the Job that makes no pod is named',
    given: {
      target: { found: enrolledWorkload({ kind: 'CronJob' }) },
      counts: counts({ existing: 0, lacking: { kind: 'Job', name: 'weather-28' } }),
      snag: snag('lacking', 60_000, 60_000),
    },
    phase: 'Pending',
    says: ['PodsInjected=False/RolloutStalled'],
    message: /^Job weather-28 makes no new pod\..*kubectl describe job weather-28 -n team1\.$/,
  },
  {
    reason: 'within the minute the first pod is awaited',
    given: { ...isLacking, snag: snag('lacking', 59_999, 60_000) },
    phase: 'Active',
    says: ['PodsInjected=Unknown/PodsAwaited'],
  },
  {
    reason: 'an enrolled workload whose owner breaks it: older pods carry sidecars, new ones are refused',
    given: { ...isRefused, unseen: 0, pods: [pod('a')], snag: snag('refused', 5_000) },
    phase: 'Error',
    says: ['Ready=False/PodsRefused', 'PodsInjected=False/PodsRefused'],
  },
  {
    reason: 'a pod without sidecars does not hide that new ones are refused',
    given: { ...isRefused, pods: [pod('a', { isInjected: false })], snag: snag('refused', 5_000) },
    phase: 'Error',
    says: ['PodsInjected=False/PodsRefused'],
  },
  {
    reason: 'refused while a new configuration waits for its turn: what needs a person comes first',
    given: {
      ...isRefused,
      target: { found: enrolledWorkload({ hash: otherHash, rolling: true }) },
      place: waiting(6_000),
      snag: snag('refused', 5_000),
    },
    phase: 'Error',
    says: ['Ready=False/PodsRefused'],
  },
  {
    reason: 'a broken configuration is said first',
    given: { ...isRefused, configuration: configuration(broken('invalid')), snag: snag('refused', 5_000) },
    phase: 'Error',
    says: ['Ready=False/ConfigInvalid', 'PodsInjected=False/PodsRefused'],
  },
  {
    reason: 'injection is off: what refuses pods is no matter of ours',
    given: {
      ...isRefused,
      configuration: configuration(gates({ globalEnabled: false })),
      snag: snag('refused', 5_000),
    },
    phase: 'Active',
    says: ['Ready=True/Configured', 'PodsInjected=False/InjectionOff'],
  },
  {
    reason: 'AD-03 pods from before the enrolment that nothing replaces',
    given: hasOlder,
    phase: 'Active',
    says: ['Ready=True/Configured', 'PodsInjected=False/PodsWithoutSidecars'],
    events: ['Configured', 'PodsWithoutSidecars'],
  },
  {
    reason: 'a pod that one watch shows before the other is none from before',
    given: { ...hasOlder, snag: snag('unseen', 4_999) },
    phase: 'Active',
    says: ['PodsInjected=Unknown/PodsAwaited'],
  },
  {
    reason: 'an empty list of pods is no protection where pods are wanted',
    given: { target: steady, counts: counts({ existing: 0, lacking: undefined }) },
    phase: 'Active',
    says: ['PodsInjected=Unknown/PodsAwaited'],
  },
  {
    reason: 'scaled to zero is calm',
    given: { target: { found: enrolledWorkload({ replicas: 0 }) } },
    phase: 'Active',
    says: ['Ready=True/Configured', 'PodsInjected=True/AllInjected'],
  },
]);

const finding = (given: Observed) =>
  decide(given, now).status?.conditions?.find(({ type }) => type === 'PodsInjected') ?? {
    status: '',
    reason: '',
    message: '',
  };

test('it is looked at again when a snag has lasted long enough, and not before', () => {
  assert.equal(decide(observed({ ...isRefused, snag: snag('refused', 1_000) }), now).afterMs, 4_000);
  assert.equal(decide(observed({ ...isLacking, snag: snag('lacking', 10_000, 60_000) }), now).afterMs, 50_000);
  assert.equal(decide(observed({ ...isRefused, snag: snag('refused', 5_000) }), now).afterMs, undefined);
});

test('what was told stands across a restart of the operator, and until a new pod shows', () => {
  const first = observed({ ...isRefused, snag: snag('refused', 5_000) });
  const told = after(first, decide(first, now));
  for (const restarted of [snag('refused', 0), snag('lacking', 0, 60_000)]) {
    const next = { ...told, counts: counts({ refusal: restarted.kind === 'refused' ? words : undefined }) };
    const plan = decide({ ...next, snag: restarted }, now);
    assert.deepEqual(plan.status, told.runtime.status);
    assert.deepEqual(plan.notices, []);
  }
  const mended = { ...told, counts: counts({ existing: 2, lacking: undefined }), pods: [pod('new')] };
  assert.equal(finding({ ...mended, snag: snag('unseen', 0, 60_000) }).reason, 'PodsAwaited');
  const done = { ...mended, target: steady, counts: counts({ lacking: undefined }), unseen: 0, snag: undefined };
  const plan = decide(done, now);
  assert.deepEqual(
    [plan.status?.phase, finding(done).reason, plan.notices?.map(({ reason }) => reason)],
    ['Active', 'AllInjected', ['Configured']],
  );
});

test('RC-06 a pod that is replaced changes no condition: what was known stands while its successor is awaited', () => {
  const calm = observed({ target: steady, counts: counts({ lacking: undefined }), pods: [pod('a')] });
  const known = after(calm, decide(calm, now));
  const gaps: readonly Partial<Observed>[] = [
    { pods: [], target: rolling, counts: counts({ existing: 0 }), snag: snag('lacking', 30_000, 60_000) },
    { pods: [], unseen: 1, snag: snag('unseen', 100) },
    { pods: [pod('b', { createdAt: now.toISOString() })], target: rolling },
  ];
  for (const gap of gaps) {
    assert.deepEqual(decide({ ...known, ...gap }, now).status?.conditions, known.runtime.status?.conditions);
  }
});

test('what was known of another workload says nothing of this one', () => {
  const target = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'weather-agent', uid: 'uid-before' };
  const before = { type: 'PodsInjected', status: 'True', reason: 'AllInjected', message: 'm' } as const;
  const status = { target, conditions: [{ ...before, lastTransitionTime: '2026-01-01T00:00:00Z' }] };
  const given = observed({ runtime: runtime({ status }), ...isLacking, snag: snag('lacking', 0, 60_000) });
  assert.equal(finding(given).reason, 'PodsAwaited');
});

test('what is said of awaited pods is the same however many of those from before are left: no write a pod', () => {
  const set = { kind: 'DaemonSet', name: 'weather-agent' } as const;
  const target = { found: enrolledWorkload({ kind: 'DaemonSet', rolling: true }) };
  const rows: readonly Partial<Observed>[] = [
    { unseen: 1 },
    { pods: [pod('a', { hash: otherHash })], unseen: 1 },
    { counts: counts({ existing: 0, lacking: set }) },
  ];
  const said = rows.map((over) => finding(observed({ target, counts: counts({ lacking: set }), ...over })));
  assert.equal(new Set(said.map(({ reason, message }) => `${reason} ${message}`)).size, 1);
  assert.equal(said[0]?.reason, 'PodsAwaited');
});

const arbitraryPod = fc
  .record({ isInjected: fc.boolean(), isFresh: fc.boolean(), isYoung: fc.boolean() })
  .map(({ isInjected, isFresh, isYoung }) =>
    pod('p', {
      isInjected,
      ...(isFresh ? {} : { hash: otherHash }),
      ...(isYoung ? { createdAt: now.toISOString() } : {}),
    }),
  );
const arbitrarySnag = fc.oneof(
  fc.constant(undefined),
  fc.nat(9_000).map((ms) => snag('refused', ms)),
  fc.nat(90_000).map((ms) => snag('lacking', ms, 60_000)),
  fc.nat(9_000).map((ms) => snag('unseen', ms)),
);
const arbitrary = fc
  .record({
    target: fc.constantFrom(rolling, steady),
    unseen: fc.nat(2),
    pods: fc.array(arbitraryPod, { maxLength: 3 }),
    wanted: fc.nat(2),
    snag: arbitrarySnag,
  })
  .map(({ wanted, ...facts }) => {
    const refusal = facts.snag?.kind === 'refused' ? words : undefined;
    return observed({ ...facts, counts: counts({ wanted, refusal }) });
  });

test('property: what is not known to be protected is never called so, a refusal is told whatever else there is, and all of it once', () => {
  fc.assert(
    fc.property(arbitrary, (first) => {
      const { unseen, pods, counts, snag } = first;
      const plan = decide(first, now);
      const said = finding(first);
      const isBare = unseen > 0 || pods.some(({ isInjected }) => !isInjected);
      if (isBare || (counts.wanted > 0 && pods.length === 0)) assert.notEqual(said.status, 'True');
      if (snag?.kind === 'refused' && snag.lastedMs >= 5_000) {
        assert.deepEqual([plan.status?.phase, said.reason], ['Error', 'PodsRefused']);
      }
      const second = after(first, plan);
      assert.deepEqual(decide(second, now).status, second.runtime.status);
    }),
    { numRuns: 500 },
  );
});
