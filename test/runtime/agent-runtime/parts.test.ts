/** The smaller decisions of the enrolment controller: release, skills, identity, events, permissions. */

import assert from 'node:assert/strict';
import test from 'node:test';
import * as fc from 'fast-check';
import { createConfigurations } from '../../../runtime/agent-runtime/configuration.ts';
import { decide } from '../../../runtime/agent-runtime/decide.ts';
import { notices } from '../../../runtime/agent-runtime/notices.ts';
import type { Observed } from '../../../runtime/agent-runtime/observed.ts';
import { permissions } from '../../../runtime/agent-runtime/permissions.ts';
import { release } from '../../../runtime/agent-runtime/release.ts';
import { sentences } from '../../../runtime/agent-runtime/sentences.ts';
import { skills } from '../../../runtime/agent-runtime/skills.ts';
import { agentRuntimeReasons } from '../../../runtime/api/conditions.ts';
import { annotations, labels } from '../../../runtime/api/names.ts';
import type { Layers } from '../../../runtime/config/layers.ts';
import {
  after,
  authBridge,
  configuration,
  enrolledWorkload,
  noLayers,
  now,
  observed,
  otherHash,
  pod,
  runtime,
  workload,
} from './fixtures.ts';

const deleted = runtime({ deleted: true });
const held = { runtime: deleted, target: { found: enrolledWorkload() } } as const;

test('RC-03 release removes our keys and the ConfigMap we made, and nothing else', () => {
  const plan = release(observed(held));
  assert.deepEqual(plan.patch?.[0]?.body, {
    metadata: { labels: { [labels.type]: null, [labels.managedBy]: null } },
    spec: {
      template: { metadata: { labels: { [labels.type]: null }, annotations: { [annotations.configHash]: null } } },
    },
  });
  assert.deepEqual(
    plan.remove?.map(({ name }) => name),
    ['rossoctl-authbridge-config'],
  );
});

const releases: readonly {
  readonly reason: string;
  readonly given: Partial<Observed>;
  readonly patched: readonly string[];
  readonly removed: number;
}[] = [
  { reason: 'RC-04 a missing target', given: { target: { missing: true } }, patched: [], removed: 1 },
  { reason: 'RC-04 an unsupported kind', given: { target: { unsupported: 'x' } }, patched: [], removed: 1 },
  {
    reason: 'RC-04 a terminating namespace',
    given: { namespace: { labels: {}, isTerminating: true } },
    patched: ['weather-agent'],
    removed: 1,
  },
  {
    reason: 'a broken configuration',
    given: { configuration: { kind: 'broken', problems: [] } },
    patched: ['weather-agent'],
    removed: 1,
  },
  {
    reason: 'RC-07 another AgentRuntime has the same target',
    given: { rivals: [runtime({ name: 'b' })], hasNeighbours: true },
    patched: [],
    removed: 0,
  },
  { reason: 'a workload that was never enrolled', given: { target: { found: workload() } }, patched: [], removed: 1 },
  {
    reason: 'an old target that was not released yet',
    given: { former: enrolledWorkload({ name: 'old' }) },
    patched: ['weather-agent', 'old'],
    removed: 1,
  },
  {
    reason: 'another AgentRuntime of the namespace remains',
    given: { hasNeighbours: true },
    patched: ['weather-agent'],
    removed: 0,
  },
  {
    reason: 'CF-02 the ConfigMap is a person’s',
    given: { authBridge: authBridge(noLayers, true) },
    patched: ['weather-agent'],
    removed: 0,
  },
];
for (const { reason, given, patched, removed } of releases) {
  test(`release: ${reason}`, () => {
    const plan = release(observed({ ...held, ...given }));
    assert.deepEqual(
      plan.patch?.map(({ target }) => target.name),
      patched,
    );
    assert.equal(plan.remove?.length, removed);
    assert.deepEqual([plan.apply, plan.status, plan.notices], [undefined, undefined, undefined]);
  });
}

test('RC-04 a type label that the selector asks for stays on the template: else the API server would refuse for ever', () => {
  const found = enrolledWorkload({ spec: { selector: { matchLabels: { [labels.type]: 'agent' } } } });
  assert.deepEqual(release(observed({ ...held, target: { found } })).patch?.[0]?.body, {
    metadata: { labels: { [labels.type]: null, [labels.managedBy]: null } },
    spec: { template: { metadata: { annotations: { [annotations.configHash]: null } } } },
  });
});

test('what is the same for a namespace is computed once, and an override never leaks into what is shared', () => {
  const configurationOf = createConfigurations();
  const plain = configurationOf(noLayers, runtime());
  const own = configurationOf(noLayers, runtime({ spec: { mtlsMode: 'strict' } }));
  assert.ok(plain.kind === 'usable' && own.kind === 'usable');
  assert.equal(plain.shared, own.shared);
  assert.equal(plain.effective, plain.shared);
  assert.equal(own.effective.config.mtls.mode, 'strict');
  assert.equal(own.shared.config.mtls.mode, 'permissive');
  assert.equal(own.hash, plain.hash);
  const invalid = configurationOf(noLayers, runtime({ spec: { mtlsMode: 'sideways' as 'strict' } }));
  assert.equal(invalid.kind, 'broken');
});

const annotated = (text: string) => workload({ annotations: { [annotations.skills]: text } });
const lists: readonly {
  readonly text: string;
  readonly own?: readonly string[];
  readonly found: readonly string[] | undefined;
  readonly reason: string;
}[] = [
  { text: '["b","a","b"]', found: ['b', 'a'], reason: 'SkillsFound' },
  { text: '["a"]', own: ['c', 'a'], found: ['a', 'c'], reason: 'SkillsFound' },
  { text: '', found: undefined, reason: 'SkillsFound' },
  { text: '[]', found: undefined, reason: 'SkillsFound' },
  { text: 'forecast', found: undefined, reason: 'SkillsInvalid' },
  { text: '{"a":1}', own: ['c'], found: undefined, reason: 'SkillsInvalid' },
  { text: '[1]', found: undefined, reason: 'SkillsInvalid' },
  { text: JSON.stringify(['x'.repeat(257), 'ok', '']), found: ['ok'], reason: 'SkillsFound' },
];
for (const { text, own, found, reason } of lists) {
  test(`skills: ${text.slice(0, 20)} with ${own?.join() ?? 'none'} of its own`, () => {
    const result = skills(annotated(text), own);
    assert.deepEqual(result.linkedSkills, found);
    assert.equal(result.finding.reason, reason);
  });
}

test('skills: at most 256 are listed', () => {
  const many = JSON.stringify(Array.from({ length: 1000 }, (_, i) => `s${i}`));
  assert.equal(skills(annotated(many)).linkedSkills?.length, 256);
});

const discovery: Layers = {
  ...noLayers,
  gates: [{ source: { layer: 'platform', where: 'gates' }, values: { skillDiscovery: true } }],
};

test('skills: listed only behind their gate; an unreadable annotation is one event and stops nothing', () => {
  const found = enrolledWorkload({ annotations: { [annotations.skills]: '["a"]' } });
  assert.equal(decide(observed({ target: { found } }), now).status?.linkedSkills, undefined);
  const on = observed({ target: { found }, configuration: configuration(discovery) });
  assert.deepEqual(decide(on, now).status?.linkedSkills, ['a']);
  const bad = { ...on, target: { found: enrolledWorkload({ annotations: { [annotations.skills]: 'a' } }) } };
  const plan = decide(bad, now);
  assert.equal(plan.status?.phase, 'Active');
  assert.deepEqual(
    plan.notices?.map(({ reason }) => reason),
    ['Configured', 'SkillAnnotationParseError'],
  );
  assert.deepEqual(decide(after(bad, plan), now).notices, []);
});

test('OB-02 every reason of Ready but RolloutPending has an event of its own', () => {
  for (const reason of agentRuntimeReasons.Ready) {
    const condition = { type: 'Ready', status: 'False', reason, message: 'm', lastTransitionTime: 't' } as const;
    assert.deepEqual(
      notices([], [condition]).map((notice) => notice.reason),
      reason === 'RolloutPending' ? [] : [reason],
    );
  }
});

test('several messages are one bounded text', () => {
  assert.equal(sentences(['a', 'b.']), 'a. b.');
  assert.match(sentences(Array.from({ length: 12 }, (_, i) => `${i}`)), /^0\. .* 9\. There are more\.$/);
});

test('permissions: no wildcard, no write on workloads’ pods or on any ConfigMap but our own', () => {
  for (const { resources, verbs, why } of permissions) {
    assert.ok(!resources.includes('*') && why.length > 20);
    assert.ok(!resources.includes('pods') || verbs.every((verb) => verb === 'list' || verb === 'watch'));
  }
  const writes = permissions.filter(
    ({ resources, verbs }) => resources.includes('configmaps') && verbs.includes('patch'),
  );
  assert.deepEqual(
    writes.map(({ resourceNames }) => resourceNames),
    [['rossoctl-authbridge-config']],
  );
});

test('property: decide, applied, decides nothing more; it never writes for a loser or an obstacle', () => {
  const arbitrary = fc.record({
    isEnrolled: fc.boolean(),
    hash: fc.constantFrom(undefined, otherHash),
    helm: fc.boolean(),
    type: fc.constantFrom('agent' as const, 'tool' as const),
    older: fc.boolean(),
    csi: fc.boolean(),
    account: fc.constantFrom(undefined, 'sa'),
    strict: fc.boolean(),
    isBroken: fc.boolean(),
    bare: fc.nat(12),
    place: fc.constantFrom<Observed['place']>(
      { kind: 'none' },
      { kind: 'held', leftMs: 5 },
      { kind: 'waiting', waitedMs: 9_000, lookMs: 1, isPaused: false },
    ),
  });
  fc.assert(
    fc.property(arbitrary, (facts) => {
      const shape = {
        ...(facts.hash === undefined ? {} : { hash: facts.hash }),
        ...(facts.helm ? { labels: { [labels.managedBy]: 'Helm' } } : {}),
        ...(facts.account === undefined ? {} : { serviceAccount: facts.account }),
      };
      const of = runtime({ spec: { type: facts.type } });
      const before = observed({
        runtime: of,
        target: { found: facts.isEnrolled ? enrolledWorkload(shape) : workload(shape) },
        rivals: facts.older ? [runtime({ name: 'older', created: '2020-01-01T00:00:00Z' })] : [],
        configuration: facts.isBroken
          ? { kind: 'broken', problems: [{ source: { layer: 'platform', where: 'w' }, kind: 'invalid', message: 'm' }] }
          : configuration(noLayers, of),
        namespace: {
          labels: facts.strict ? { 'pod-security.kubernetes.io/enforce': 'baseline' } : {},
          isTerminating: false,
        },
        hasCsiDriver: facts.csi,
        hasServiceAccount: false,
        authBridge: undefined,
        pods: Array.from({ length: facts.bare }, (_, i) => pod(`p${i}`, { isInjected: false })),
        place: facts.place,
      });
      const plan = decide(before, now);
      const next = decide(after(before, plan), now);
      assert.deepEqual(next.apply, []);
      assert.deepEqual(next.notices, []);
      assert.deepEqual(
        next.status,
        plan.status?.configuredPods === undefined
          ? plan.status
          : { ...plan.status, configuredPods: next.status?.configuredPods },
      );
      if (facts.older) assert.deepEqual(plan.apply, []);
    }),
    { numRuns: 500 },
  );
});
