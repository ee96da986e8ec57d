/** The screen of `rossoctl status`. */

import assert from 'node:assert/strict';
import test from 'node:test';
import type { AgentRuntime } from '../../../runtime/api/agent-runtime.ts';
import type { Pod } from '../../../runtime/api/kubernetes.ts';
import { type ClusterView, statusLines } from '../../../runtime/cli/status-view.ts';
import { cli } from './run-cli.ts';

const hash = 'a'.repeat(64);
const condition = (type: string, status: 'True' | 'False', reason: string, message: string) => ({
  type,
  status,
  reason,
  message,
  lastTransitionTime: '2026-01-01T00:00:00Z',
});

function runtime(name: string, status: AgentRuntime['status']): AgentRuntime {
  return {
    apiVersion: 'agent.rossoctl.dev/v1alpha1',
    kind: 'AgentRuntime',
    metadata: { name, namespace: 'team1' },
    spec: { type: 'agent', targetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name } },
    ...(status && { status }),
  };
}

function pod(deployment: string, at: number, annotations: Record<string, string>, phase = 'Running'): Pod {
  const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: `${deployment}-abc`, uid: 'u', controller: true };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: `${deployment}-abc-${at}`,
      namespace: 'team1',
      labels: { 'pod-template-hash': 'abc' },
      annotations,
      ownerReferences: [owner],
    },
    spec: { containers: [{ name: annotations['rossoctl.io/injected'] ?? 'agent' }] },
    status: { phase },
  };
}

const injected = (configHash: string) => ({
  'rossoctl.io/injected': 'envoy-proxy',
  'rossoctl.io/config-hash': configHash,
});
const ready: AgentRuntime['status'] = {
  phase: 'Active',
  configHash: hash,
  conditions: [condition('Ready', 'True', 'Configured', 'ok')],
};

const view = (parts: Partial<ClusterView>): ClusterView => ({
  runtimes: [],
  pods: [],
  between: [],
  workloads: [],
  unread: [],
  ...parts,
});
const failed = (reason: string, message: string): AgentRuntime['status'] => ({
  phase: 'Error',
  conditions: [condition('Ready', 'False', reason, message)],
});

test('AD-03 pods by hash, bare ones by name, each sentence once; errors first, then what waits, then warnings', () => {
  const broken: AgentRuntime['status'] = {
    phase: 'Error',
    conditions: [
      condition('ConfigResolved', 'False', 'ConfigInvalid', 'ConfigMap team1/defaults is wrong'),
      condition('Ready', 'False', 'ConfigInvalid', 'ConfigMap team1/defaults is wrong'),
    ],
  };
  const pods = [
    pod('good', 1, injected(hash)),
    pod('good', 2, injected('b')),
    pod('good', 3, injected('b'), 'Failed'),
    pod('leaky', 1, {}),
    pod('stranger', 1, {}),
  ];
  const runtimes = [
    runtime('good', ready),
    runtime('wrong', broken),
    runtime('leaky', ready),
    runtime('new', undefined),
  ];
  assert.deepEqual(statusLines(view({ runtimes, pods })), [
    'NAMESPACE  NAME   TYPE   TARGET            PHASE   READY  CURRENT  OTHER  BARE',
    'team1      wrong  agent  Deployment/wrong  Error   False  0        0      0',
    '  ! Ready (ConfigInvalid): ConfigMap team1/defaults is wrong',
    'team1      new    agent  Deployment/new    -       -      0        0      0',
    '  ! the operator has not looked at it yet; is it running?',
    'team1      leaky  agent  Deployment/leaky  Active  True   0        0      1',
    '  ! pods without sidecars: leaky-abc-1',
    'team1      good   agent  Deployment/good   Active  True   1        1      0',
    '4 AgentRuntimes, 3 with trouble (1 in error, 1 waiting, 1 with warnings)',
  ]);
});

test('AD-03 a marker alone is no sidecar', () => {
  const marked = pod('good', 1, injected(hash));
  const bare = { ...marked, spec: { containers: [{ name: 'agent' }] } };
  const lines = statusLines(view({ runtimes: [runtime('good', ready)], pods: [bare] }));
  assert.match(lines[1] ?? '', / 0 +0 +1$/);
});

test('pods from before the enrolment count as bare: the workload’s own status knows of them', () => {
  const refused = failed('PodsRefused', 'New pods of Deployment stuck are refused: no.');
  const deployment = (name: string, replicas: number) => ({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { namespace: 'team1', name, uid: name },
    status: { replicas },
  });
  const cron = runtime('cron', ready);
  const job = {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: {
      namespace: 'team1',
      name: 'cron-1',
      ownerReferences: [{ apiVersion: 'batch/v1', kind: 'CronJob', name: 'cron', uid: 'cron', controller: true }],
    },
    spec: { template: {} },
    status: { startTime: '2026-01-01T00:00:00Z', active: 2 },
  };
  const lines = statusLines(
    view({
      runtimes: [
        runtime('stuck', refused),
        runtime('half', ready),
        { ...cron, spec: { ...cron.spec, targetRef: { apiVersion: 'batch/v1', kind: 'CronJob', name: 'cron' } } },
      ],
      pods: [pod('half', 1, injected(hash))],
      workloads: [
        deployment('stuck', 1),
        deployment('half', 3),
        { apiVersion: 'batch/v1', kind: 'CronJob', metadata: { namespace: 'team1', name: 'cron', uid: 'cron' } },
      ],
      between: [job],
      unread: ['StatefulSets'],
    }),
  );
  assert.deepEqual(lines.slice(1), [
    'team1      stuck  agent  Deployment/stuck  Error   False  0        0      1',
    '  ! Ready (PodsRefused): New pods of Deployment stuck are refused: no.',
    'team1      cron   agent  CronJob/cron      Active  True   0        0      2',
    '  ! pods without sidecars: 2 from before the enrolment',
    'team1      half   agent  Deployment/half   Active  True   1        0      2',
    '  ! pods without sidecars: 2 from before the enrolment',
    'StatefulSets cannot be read: BARE leaves out their pods from before the enrolment',
    '3 AgentRuntimes, 3 with trouble (1 in error, 2 with warnings)',
  ]);
});

test('many sound runtimes fit one screen', () => {
  const runtimes = Array.from({ length: 500 }, (_, at) => runtime(`r${at}`, ready));
  const lines = statusLines(view({ runtimes }));
  assert.equal(lines.length, 43);
  assert.equal(lines.at(-2), '… and 460 more without trouble');
  assert.equal(lines.at(-1), '500 AgentRuntimes, 0 with trouble');
});

test('a warning that every runtime has hides no error: errors are all listed, and first', () => {
  const noDriver = condition('SpiffeReady', 'False', 'SpiffeUnavailable', 'The cluster has no CSI driver.');
  const warned: AgentRuntime['status'] = { ...ready, conditions: [...(ready?.conditions ?? []), noDriver] };
  const waiting: AgentRuntime['status'] = {
    phase: 'Pending',
    conditions: [noDriver, condition('Ready', 'False', 'TargetNotFound', 'There is none.')],
  };
  const many = Array.from({ length: 100 }, (_, at) => runtime(`a${String(at).padStart(3, '0')}`, warned));
  const lines = statusLines(
    view({
      runtimes: [...many, runtime('y-waits', waiting), runtime('z-fails', failed('FieldConflict', 'Flux undoes it.'))],
    }),
  );
  const names = lines.filter((line) => line.startsWith('team1')).map((line) => line.split(/ +/)[1]);
  assert.deepEqual(names.slice(0, 4), ['z-fails', 'y-waits', 'a000', 'a001']);
  assert.deepEqual([names.length, lines.at(-2)], [40, '… and 62 more with warnings']);
  assert.equal(lines.at(-1), '102 AgentRuntimes, 102 with trouble (1 in error, 1 waiting, 100 with warnings)');
});

test('errors are listed beyond a screen', () => {
  const runtimes = Array.from({ length: 60 }, (_, at) => runtime(`r${at}`, failed('FieldConflict', 'x')));
  const lines = statusLines(view({ runtimes: [...runtimes, runtime('sound', ready)] }));
  assert.equal(lines.filter((line) => line.startsWith('team1')).length, 60);
  assert.equal(lines.at(-2), '… and 1 more without trouble');
});

test('a name as long as Kubernetes allows is cut, and pushes no row apart', () => {
  const lines = statusLines(view({ runtimes: [runtime('x'.repeat(253), ready), runtime('short', ready)] }));
  assert.ok(Math.max(...lines.map(({ length }) => length)) < 160, lines.join('\n'));
  assert.match(lines[2] ?? '', /^team1 {6}x{39}… {2}agent {2}Deployment\/x{28}… {2}Active/);
});

test('no AgentRuntimes', () => {
  assert.deepEqual(statusLines(view({})), ['There are no AgentRuntimes.']);
});

test('a kubeconfig that is not there is one sentence and exit code 2', async () => {
  const { code, out, err } = await cli(['status', '--kubeconfig', '/nowhere/config']);
  assert.deepEqual([code, out], [2, '']);
  assert.match(err, /^rossoctl: .*\/nowhere\/config/);
  assert.equal((await cli(['status', 'pods'])).code, 2);
});
