/** The validating webhook of AgentCards, with values: the rule of one card a workload, who stands in whose way, and the sync period. */

import assert from 'node:assert/strict';
import test from 'node:test';
import type { AgentCard } from '../../../runtime/api/agent-card.ts';
import { apiVersion, labels, managedBy } from '../../../runtime/api/names.ts';
import type { AdmissionRequest, KubeObject, LiveReader } from '../../../runtime/engine/types.ts';
import { createAgentCardValidator } from '../../../runtime/validation/webhook.ts';

interface Shape {
  readonly name?: string;
  readonly kind?: string;
  readonly target?: string;
  readonly apiVersion?: string;
  readonly generated?: boolean;
  readonly deleted?: boolean;
  readonly labels?: Readonly<Record<string, string>>;
  readonly syncPeriod?: string;
}

function card(shape: Shape = {}): AgentCard {
  const { kind = 'Deployment', target = 'weather', generated = false, syncPeriod } = shape;
  const name = generated ? `${target}-${kind.toLowerCase()}-card` : (shape.name ?? 'mine');
  return {
    apiVersion,
    kind: 'AgentCard',
    metadata: {
      name,
      namespace: 'team1',
      uid: `uid-${name}`,
      creationTimestamp: '2026-01-01T00:00:00Z',
      labels: { ...shape.labels, ...(generated ? { [labels.managedBy]: managedBy } : {}) },
      ...(shape.deleted === true ? { deletionTimestamp: '2026-01-02T00:00:00Z', finalizers: ['x'] } : {}),
    },
    spec: {
      targetRef: { apiVersion: shape.apiVersion ?? 'apps/v1', kind, name: target },
      ...(syncPeriod === undefined ? {} : { syncPeriod }),
    },
  };
}

type Where = NonNullable<Parameters<LiveReader['list']>[1]>;

function reader(existing: readonly AgentCard[] | Error) {
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
  object: AgentCard | undefined,
  oldObject?: AgentCard,
): AdmissionRequest<AgentCard> {
  const name = object?.metadata.name ?? oldObject?.metadata.name ?? '';
  return { uid: 'r', operation, namespace: 'team1', name, object, oldObject, dryRun: false, user: 'dev' };
}

const validatorOf = (live: LiveReader) => createAgentCardValidator({ live, operatorNamespace: 'rossoctl-system' });

interface Row {
  readonly reason: string;
  readonly ask: AdmissionRequest<AgentCard>;
  readonly existing?: readonly AgentCard[] | Error;
  readonly verdict: 'allow' | 'deny';
  readonly because: string;
  readonly says?: RegExp;
  readonly lists?: number;
}

const other = card({ name: 'other' });
const rows: readonly Row[] = [
  { reason: 'a first card for a workload', ask: request('CREATE', card()), verdict: 'allow', because: 'TargetFree' },
  {
    reason: 'RC-07 a second hand-made one, naming the first and what to do',
    ask: request('CREATE', card()),
    existing: [other],
    verdict: 'deny',
    because: 'DuplicateTarget',
    says: /^an AgentCard already targets Deployment weather in namespace team1: other\. A workload has one AgentCard: change other instead, or delete it first\.$/,
    lists: 1,
  },
  {
    reason: 'a hand-made one beside the generated one, which will be withdrawn',
    ask: request('CREATE', card()),
    existing: [card({ generated: true })],
    verdict: 'allow',
    because: 'TargetFree',
    lists: 1,
  },
  {
    reason: 'a generated one beside a hand-made one',
    ask: request('CREATE', card({ generated: true })),
    existing: [other],
    verdict: 'deny',
    because: 'DuplicateTarget',
    says: /: other\./,
  },
  {
    reason: 'a third: the hand-made one is named, not the generated one',
    ask: request('CREATE', card()),
    existing: [card({ generated: true }), other],
    verdict: 'deny',
    because: 'DuplicateTarget',
    says: /: other\./,
  },
  {
    reason: 'our label under another name is no generated card',
    ask: request('CREATE', card()),
    existing: [card({ name: 'other', labels: { [labels.managedBy]: managedBy } })],
    verdict: 'deny',
    because: 'DuplicateTarget',
  },
  {
    reason: 'RC-07 Deployment x and StatefulSet x are two workloads',
    ask: request('CREATE', card({ kind: 'StatefulSet' })),
    existing: [other],
    verdict: 'allow',
    because: 'TargetFree',
  },
  {
    reason: 'one that is being deleted still has its target',
    ask: request('CREATE', card()),
    existing: [card({ name: 'other', deleted: true })],
    verdict: 'deny',
    because: 'DuplicateTarget',
    says: /being deleted\. Try again/,
  },
  {
    reason: 'RC-07 an UPDATE onto a taken target',
    ask: request('UPDATE', card(), card({ target: 'news' })),
    existing: [card({ target: 'news' }), other],
    verdict: 'deny',
    because: 'DuplicateTarget',
    lists: 1,
  },
  {
    reason: 'RC-04 an UPDATE that keeps its target needs no list',
    ask: request('UPDATE', card({ syncPeriod: '1m' }), card()),
    existing: new Error('down'),
    verdict: 'allow',
    because: 'TargetUnchanged',
    lists: 0,
  },
  {
    reason: 'RC-04 a change of metadata alone needs no list',
    ask: request('UPDATE', card({ syncPeriod: '1s', labels: { a: 'b' } }), card({ syncPeriod: '1s' })),
    existing: new Error('down'),
    verdict: 'allow',
    because: 'SpecUnchanged',
    lists: 0,
  },
  {
    reason: 'RC-04 an object being deleted passes whatever its spec',
    ask: request('UPDATE', card({ deleted: true, syncPeriod: '1s' }), card({ target: 'news' })),
    existing: [other],
    verdict: 'allow',
    because: 'BeingDeleted',
    lists: 0,
  },
  {
    reason: 'RC-04 deletion passes',
    ask: request('DELETE', undefined, card()),
    existing: new Error('down'),
    verdict: 'allow',
    because: 'NotChecked',
    lists: 0,
  },
  {
    reason: 'RC-04 a sibling without any spec, older than the schema, is skipped',
    ask: request('CREATE', card()),
    existing: [{ apiVersion, kind: 'AgentCard', metadata: { name: 'x' } } as AgentCard],
    verdict: 'allow',
    because: 'TargetFree',
  },
  {
    reason: 'a list that fails refuses with its cause',
    ask: request('CREATE', card()),
    existing: new Error('connection refused'),
    verdict: 'deny',
    because: 'ListFailed',
    says: /another AgentCard targets Deployment weather .*connection refused.*Try again/,
  },
  {
    reason: 'a sync period under the shortest, with both',
    ask: request('CREATE', card({ syncPeriod: '500ms' })),
    existing: new Error('down'),
    verdict: 'deny',
    because: 'SpecRefused',
    says: /^spec\.syncPeriod: 500ms is too short; the shortest is 5s\.$/,
    lists: 0,
  },
  {
    reason: 'a sync period over the longest, with both',
    ask: request('CREATE', card({ syncPeriod: '24h1s' })),
    verdict: 'deny',
    because: 'SpecRefused',
    says: /^spec\.syncPeriod: 24h1s is too long; the longest is 24h\.$/,
  },
  {
    reason: 'RC-04 a change of the rest of an object that had a long period before the rule',
    ask: request('UPDATE', card({ syncPeriod: '100h', apiVersion: 'apps/v2' }), card({ syncPeriod: '100h' })),
    verdict: 'allow',
    because: 'TargetUnchanged',
  },
  {
    reason: 'a change of the sync period to one that is too short',
    ask: request('UPDATE', card({ syncPeriod: '0s' }), card({ syncPeriod: '30s' })),
    verdict: 'deny',
    because: 'SpecRefused',
  },
  {
    reason: 'RC-04 a change of the rest of an object that had a short period before the rule',
    ask: request('UPDATE', card({ syncPeriod: '1s', apiVersion: 'apps/v2' }), card({ syncPeriod: '1s' })),
    verdict: 'allow',
    because: 'TargetUnchanged',
  },
];

for (const row of rows) {
  test(`validation of cards: ${row.reason}`, async () => {
    const { live, calls } = reader(row.existing ?? []);
    const verdict = await validatorOf(live).review(row.ask);
    assert.equal(verdict.kind, row.verdict, verdict.note);
    assert.equal(verdict.reason, row.because);
    if (row.says !== undefined) assert.match(verdict.note, row.says);
    if (row.lists !== undefined) assert.equal(calls.length, row.lists);
  });
}

test('validation of cards: only those of a target of that name are asked for', async () => {
  const { live, calls } = reader([]);
  const { name, path } = validatorOf(live);
  await validatorOf(live).review(request('CREATE', card()));
  assert.deepEqual(calls, ['AgentCard team1 spec.targetRef.name=weather']);
  assert.deepEqual([name, path], ['agentcard.rossoctl.io', '/validate-agent-rossoctl-dev-v1alpha1-agentcard']);
});

test('validation of cards: an unsupported kind is admitted with a warning that lists what is supported', async () => {
  const verdict = await validatorOf(reader([]).live).review(request('CREATE', card({ kind: 'ReplicaSet' })));
  assert.equal(verdict.kind, 'allow');
  assert.match(
    verdict.warnings?.[0] ?? '',
    /^spec\.targetRef: ReplicaSet of apps\/v1 cannot have its card fetched; supported are Deployment \(apps\/v1\), /,
  );
});
