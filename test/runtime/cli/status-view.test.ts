/** The screen of `rossoctl status`. */

import assert from 'node:assert/strict';
import test from 'node:test';
import type { AgentRuntime } from '../../../runtime/api/agent-runtime.ts';
import type { Pod } from '../../../runtime/api/kubernetes.ts';
import { statusLines } from '../../../runtime/cli/status-view.ts';
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
    spec: { containers: [] },
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

test('AD-03 pods by hash, bare ones by name, trouble first and each sentence once', () => {
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
  const lines = statusLines({
    runtimes: [runtime('good', ready), runtime('wrong', broken), runtime('leaky', ready), runtime('new', undefined)],
    pods,
    between: [],
  });
  assert.deepEqual(lines, [
    'NAMESPACE  NAME   TYPE   TARGET            PHASE   READY  CURRENT  OTHER  BARE',
    'team1      leaky  agent  Deployment/leaky  Active  True   0        0      1',
    '  ! pods without sidecars: leaky-abc-1',
    'team1      new    agent  Deployment/new    -       -      0        0      0',
    '  ! the operator has not looked at it yet; is it running?',
    'team1      wrong  agent  Deployment/wrong  Error   False  0        0      0',
    '  ! Ready (ConfigInvalid): ConfigMap team1/defaults is wrong',
    'team1      good   agent  Deployment/good   Active  True   1        1      0',
    '4 AgentRuntimes, 3 with trouble',
  ]);
});

test('many sound runtimes fit one screen', () => {
  const runtimes = Array.from({ length: 500 }, (_, at) => runtime(`r${at}`, ready));
  const lines = statusLines({ runtimes, pods: [], between: [] });
  assert.equal(lines.length, 43);
  assert.equal(lines.at(-2), '… and 460 more without trouble');
});

test('no AgentRuntimes', () => {
  assert.deepEqual(statusLines({ runtimes: [], pods: [], between: [] }), ['There are no AgentRuntimes.']);
});

test('a kubeconfig that is not there is one sentence and exit code 2', async () => {
  const { code, out, err } = await cli(['status', '--kubeconfig', '/nowhere/config']);
  assert.deepEqual([code, out], [2, '']);
  assert.match(err, /^rossoctl: .*\/nowhere\/config/);
  assert.equal((await cli(['status', 'pods'])).code, 2);
});
