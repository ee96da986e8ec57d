/** The validating webhook, with values: what passes without a list, what is listed, what is refused and with which words. */

import assert from 'node:assert/strict';
import test from 'node:test';
import type { AgentRuntime } from '../../../runtime/api/agent-runtime.ts';
import { apiVersion } from '../../../runtime/api/names.ts';
import type { AdmissionRequest, KubeObject, LiveReader } from '../../../runtime/engine/types.ts';
import { createAgentRuntimeValidator } from '../../../runtime/validation/webhook.ts';

const supported = [
  { apiVersion: 'apps/v1', kind: 'Deployment' },
  { apiVersion: 'apps/v1', kind: 'StatefulSet' },
];

const validatorOf = (live: LiveReader) =>
  createAgentRuntimeValidator({ live, supported, operatorNamespace: 'rossoctl-system' });

interface Shape {
  readonly name?: string;
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly target?: string;
  readonly deleted?: boolean;
  readonly created?: string;
  readonly spec?: Partial<AgentRuntime['spec']>;
}

function runtime(shape: Shape = {}): AgentRuntime {
  const name = shape.name ?? 'weather';
  return {
    apiVersion,
    kind: 'AgentRuntime',
    metadata: {
      name,
      namespace: 'team1',
      uid: `uid-${name}`,
      creationTimestamp: shape.created ?? '2026-01-01T00:00:00Z',
      ...(shape.deleted === true ? { deletionTimestamp: '2026-01-02T00:00:00Z', finalizers: ['x'] } : {}),
    },
    spec: {
      type: 'agent',
      targetRef: {
        apiVersion: shape.apiVersion ?? 'apps/v1',
        kind: shape.kind ?? 'Deployment',
        name: shape.target ?? 'weather-agent',
      },
      ...shape.spec,
    },
  };
}

type Where = NonNullable<Parameters<LiveReader['list']>[1]>;

/** A live reader over fixed objects that counts its lists; an Error instead of objects fails them. */
function reader(existing: readonly AgentRuntime[] | Error) {
  const calls: string[] = [];
  const live: LiveReader = {
    get: async () => undefined,
    list: async <T extends KubeObject>(kind: { readonly kind: string }, where: Where = {}) => {
      calls.push(`${kind.kind} ${where.namespace} ${where.fields}`);
      if (existing instanceof Error) throw existing;
      return existing as readonly unknown[] as readonly T[];
    },
  };
  return { live, calls };
}

function request(
  operation: AdmissionRequest['operation'],
  object: AgentRuntime | undefined,
  oldObject?: AgentRuntime,
): AdmissionRequest<AgentRuntime> {
  const name = object?.metadata.name ?? oldObject?.metadata.name ?? '';
  return { uid: 'r', operation, namespace: 'team1', name, object, oldObject, dryRun: false, user: 'dev' };
}

interface Row {
  readonly reason: string;
  readonly ask: AdmissionRequest<AgentRuntime>;
  readonly existing?: readonly AgentRuntime[] | Error;
  readonly verdict: 'allow' | 'deny';
  readonly because: string;
  readonly says?: RegExp;
  readonly lists?: number;
}

const other = runtime({ name: 'other' });
const rows: readonly Row[] = [
  {
    reason: 'a first AgentRuntime for a workload',
    ask: request('CREATE', runtime()),
    existing: [],
    verdict: 'allow',
    because: 'TargetFree',
    lists: 1,
  },
  {
    reason: 'RC-07 a second one for the same workload, naming the first and what to do',
    ask: request('CREATE', runtime()),
    existing: [other],
    verdict: 'deny',
    because: 'DuplicateTarget',
    says: /already targets Deployment weather-agent in namespace team1: other.*delete it first/,
    lists: 1,
  },
  {
    reason: 'RC-07 the oldest of several holders is the one named',
    ask: request('CREATE', runtime()),
    existing: [runtime({ name: 'a', created: '2026-01-03T00:00:00Z' }), other],
    verdict: 'deny',
    because: 'DuplicateTarget',
    says: /: other\./,
  },
  {
    reason: 'a holder that is being deleted still counts; the sentence says to retry',
    ask: request('CREATE', runtime()),
    existing: [runtime({ name: 'other', deleted: true })],
    verdict: 'deny',
    because: 'DuplicateTarget',
    says: /being deleted\. Try again/,
  },
  {
    reason: 'RC-07 same name, other kind: Deployment x and StatefulSet x',
    ask: request('CREATE', runtime({ kind: 'StatefulSet' })),
    existing: [other],
    verdict: 'allow',
    because: 'TargetFree',
  },
  {
    reason: 'another version of the same group is the same workload',
    ask: request('CREATE', runtime({ apiVersion: 'apps/v1beta2' })),
    existing: [other],
    verdict: 'deny',
    because: 'DuplicateTarget',
  },
  {
    reason: 'another group with the same kind is another workload',
    ask: request('CREATE', runtime({ apiVersion: 'apps.other.dev/v1' })),
    existing: [other],
    verdict: 'allow',
    because: 'TargetFree',
    says: /No other/,
  },
  {
    reason: 'the object itself is no rival',
    ask: request('CREATE', runtime()),
    existing: [runtime()],
    verdict: 'allow',
    because: 'TargetFree',
  },
  {
    reason: 'RC-07 an UPDATE onto a taken target',
    ask: request('UPDATE', runtime(), runtime({ target: 'old' })),
    existing: [runtime({ target: 'old' }), other],
    verdict: 'deny',
    because: 'DuplicateTarget',
    lists: 1,
  },
  {
    reason: 'RC-07 an UPDATE onto a free target',
    ask: request('UPDATE', runtime(), runtime({ target: 'old' })),
    existing: [runtime({ target: 'old' })],
    verdict: 'allow',
    because: 'TargetFree',
  },
  {
    reason: 'an UPDATE that keeps its target needs no list',
    ask: request('UPDATE', runtime({ spec: { mtlsMode: 'strict' } }), runtime()),
    existing: new Error('down'),
    verdict: 'allow',
    because: 'TargetUnchanged',
    lists: 0,
  },
  {
    reason: 'RC-04 a change of metadata alone needs no list',
    ask: request('UPDATE', { ...runtime(), metadata: { name: 'weather', finalizers: [] } }, runtime()),
    existing: new Error('down'),
    verdict: 'allow',
    because: 'SpecUnchanged',
    lists: 0,
  },
  {
    reason: 'RC-04 an object being deleted passes whatever its spec',
    ask: request('UPDATE', runtime({ deleted: true, apiVersion: '//' }), runtime({ target: 'b' })),
    existing: [other],
    verdict: 'allow',
    because: 'BeingDeleted',
    lists: 0,
  },
  {
    reason: 'RC-04 deletion passes',
    ask: request('DELETE', undefined, runtime()),
    existing: new Error('down'),
    verdict: 'allow',
    because: 'NotChecked',
    lists: 0,
  },
  {
    reason: 'RC-04 a sibling without any spec, older than the schema, is skipped',
    ask: request('CREATE', runtime()),
    existing: [{ apiVersion, kind: 'AgentRuntime', metadata: { name: 'x' } } as AgentRuntime],
    verdict: 'allow',
    because: 'TargetFree',
  },
  {
    reason: 'a list that fails refuses with its cause',
    ask: request('CREATE', runtime()),
    existing: new Error('connection refused'),
    verdict: 'deny',
    because: 'ListFailed',
    says: /connection refused.*Try again/,
  },
];

for (const row of rows) {
  test(`validation: ${row.reason}`, async () => {
    const { live, calls } = reader(row.existing ?? []);
    const verdict = await validatorOf(live).review(row.ask);
    assert.equal(verdict.kind, row.verdict, verdict.note);
    assert.equal(verdict.reason, row.because);
    if (row.says !== undefined) assert.match(verdict.note, row.says);
    if (row.lists !== undefined) assert.equal(calls.length, row.lists);
  });
}

test('validation: only AgentRuntimes of a target of that name are asked for', async () => {
  const { live, calls } = reader([]);
  await validatorOf(live).review(request('CREATE', runtime()));
  assert.deepEqual(calls, [`AgentRuntime team1 spec.targetRef.name=${runtime().spec.targetRef.name}`]);
});

const places: readonly (readonly [namespace: string, operation: 'CREATE' | 'UPDATE', because: string])[] = [
  ['kube-system', 'CREATE', 'SystemNamespace'],
  ['kube-public', 'CREATE', 'SystemNamespace'],
  ['kube-node-lease', 'CREATE', 'SystemNamespace'],
  ['rossoctl-system', 'CREATE', 'SystemNamespace'],
  ['kube-systems', 'CREATE', 'TargetFree'],
  ['kube-system', 'UPDATE', 'TargetFree'],
];
for (const [namespace, operation, because] of places) {
  test(`validation: ${operation} in ${namespace} is ${because}`, async () => {
    const before = operation === 'UPDATE' ? runtime({ target: 'other' }) : undefined;
    const verdict = await validatorOf(reader([]).live).review({ ...request(operation, runtime(), before), namespace });
    assert.equal(verdict.reason, because);
    if (because !== 'SystemNamespace') return;
    assert.equal(verdict.kind, 'deny');
    assert.match(verdict.note, new RegExp(`^metadata\\.namespace: ${namespace} is .* in another namespace\\.$`));
  });
}

async function warnings(spec: Shape): Promise<readonly string[]> {
  const verdict = await validatorOf(reader([]).live).review(request('CREATE', runtime(spec)));
  assert.equal(verdict.kind, 'allow');
  return verdict.warnings ?? [];
}

test('validation: an unsupported kind is admitted with a warning that lists what is supported', async () => {
  const [warning] = await warnings({ kind: 'ReplicaSet' });
  assert.match(warning ?? '', /^spec\.targetRef: ReplicaSet of apps\/v1 .*Deployment \(apps\/v1\), StatefulSet/);
  assert.equal((await warnings({ kind: 'Deployment', apiVersion: 'example.dev/v1' })).length, 1);
});

test('validation: a sampling rate that has no effect is warned of, one that has is not', async () => {
  const [warning] = await warnings({ spec: { trace: { sampling: { type: 'always', rate: 0.5 } } } });
  assert.match(warning ?? '', /^spec\.trace\.sampling\.rate: .*always/);
  assert.deepEqual(await warnings({ spec: { trace: { sampling: { rate: 0.5 } } } }), []);
  assert.deepEqual(await warnings({ spec: { trace: { sampling: { type: 'probabilistic', rate: 0.5 } } } }), []);
});
