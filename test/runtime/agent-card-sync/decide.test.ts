/** The discovery of agents, with values: which step each situation asks for, and what it writes. */

import assert from 'node:assert/strict';
import test from 'node:test';
import { decide } from '../../../runtime/agent-card-sync/decide.ts';
import type { Facts } from '../../../runtime/agent-card-sync/observed.ts';
import { stepOf } from '../../../runtime/agent-card-sync/step.ts';
import { kinds } from '../../../runtime/api/kinds.ts';
import { labels } from '../../../runtime/api/names.ts';
import { agentLabels, card, facts, generated, observed, owner, protocol, workload } from './fixtures.ts';

const elsewhere = { targetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'news' } };
const going = { deletionTimestamp: '2026-01-01T00:00:00Z' };
const named = { name: 'weather-deployment-card' };
const enrolledOnly = { workload: workload({ labels: { [labels.type]: 'agent' } }) };

const rows: readonly (readonly [situation: string, facts: Facts, step: string, card?: string])[] = [
  ['an agent without a card', facts(), 'create'],
  [
    'an agent with another protocol',
    facts([], { workload: workload({ labels: { ...agentLabels, [protocol]: 'x' } }) }),
    'create',
  ],
  ['an agent with its generated card', facts([generated()]), 'none'],
  ['an agent with a card made by hand', facts([card()]), 'none'],
  ['a card of the generated name that is not ours: adopted', facts([card(named)]), 'none'],
  ['our label under another name is made by hand', facts([card({ labels: generated().metadata.labels })]), 'none'],
  ['both', facts([generated(), card()]), 'withdraw', named.name],
  ['both, the one made by hand going', facts([generated(), card(going)]), 'none'],
  ['a card made by hand that is going has the target still', facts([card(going)]), 'none'],
  ['the generated card going is waited for', facts([generated(going)]), 'none'],
  ['the generated card without an owner', facts([generated({ ownerReferences: [] })]), 'own', named.name],
  [
    'the generated card of a former workload',
    facts([generated({ ownerReferences: [{ ...owner, uid: 'old' }] })]),
    'own',
    named.name,
  ],
  ['a workload that is enrolled and speaks no protocol', facts([], enrolledOnly), 'none'],
  [
    'a workload that speaks and is not enrolled',
    facts([], { workload: workload({ labels: { [protocol]: '' } }) }),
    'none',
  ],
  ['a tool', facts([], { workload: workload({ labels: { ...agentLabels, [labels.type]: 'tool' } }) }), 'none'],
  ['no agent any more', facts([generated()], enrolledOnly), 'withdraw', named.name],
  ['no agent any more, with a card made by hand', facts([card()], enrolledOnly), 'none'],
  ['no agent any more, with a card that was adopted', facts([card(named)], enrolledOnly), 'none'],
  ['the generated name has another target', facts([card(named, elsewhere)]), 'taken', named.name],
  ['the same while an agent has a card', facts([card(named, elsewhere), card()]), 'none'],
  ['the same while that one is going', facts([card({ ...named, ...going }, elsewhere)]), 'none'],
  ['a workload that is being deleted, without a card', facts([], { workload: workload(going) }), 'none'],
  [
    'the same, and its card let go by the garbage collector',
    facts([generated({ ownerReferences: [] })], { workload: workload(going) }),
    'none',
  ],
  ['the same with a card too many', facts([generated(), card()], { workload: workload(going) }), 'none'],
  ['a namespace that is being deleted', facts([], { isTerminating: true }), 'none'],
  ['the same with a card too many', facts([generated(), card()], { isTerminating: true }), 'none'],
];

for (const [situation, given, kind, name] of rows) {
  test(`discovery: ${situation}: ${kind}`, () => {
    const step = stepOf(given);
    assert.equal(step.kind, kind);
    assert.equal('card' in step ? step.card.metadata.name : undefined, name);
  });
}

test('discovery: the generated card, whole', () => {
  assert.deepEqual(decide(observed()), {
    create: [
      {
        kind: kinds.agentCard,
        lostWhen: 'an AgentCard already targets',
        body: {
          apiVersion: 'agent.rossoctl.dev/v1alpha1',
          kind: 'AgentCard',
          metadata: {
            namespace: 'team1',
            name: 'weather-deployment-card',
            labels: { 'app.kubernetes.io/managed-by': 'rossoctl-operator', 'app.kubernetes.io/name': 'weather' },
            ownerReferences: [owner],
          },
          spec: { targetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'weather' } },
        },
      },
    ],
  });
});

test('discovery: the name label follows the workload’s own, else its name, cut to what a label can hold', () => {
  const labelOf = (given: ReturnType<typeof workload>) =>
    decide(observed([], { workload: given })).create?.[0]?.body.metadata.labels?.['app.kubernetes.io/name'];
  assert.equal(labelOf(workload({ labels: { ...agentLabels, 'app.kubernetes.io/name': 'app' } })), 'app');
  assert.equal(labelOf(workload({ name: 'w'.repeat(100) }))?.length, 63);
});

const ref = { kind: kinds.agentCard, namespace: 'team1', name: named.name, uid: `uid-${named.name}` };

test('discovery: a card too many is deleted, that very one, and an event says why', () => {
  const { remove, notices } = decide(observed([generated(), card()]));
  assert.deepEqual(remove, [ref]);
  assert.match(
    notices?.[0]?.note ?? '',
    /AgentCard weather-deployment-card of Deployment weather was deleted: .*of its own/,
  );
  const gone = decide(observed([generated()], enrolledOnly)).notices?.[0];
  assert.match(gone?.note ?? '', /no agent with a protocol label any more/);
});

test('discovery: a generated card whose spec somebody wrote is left, and an event says by whom and what to do', () => {
  const rows: readonly (readonly [ReturnType<typeof observed>, RegExp])[] = [
    [
      observed([generated(), card()], { appliedOverBy: 'kubectl' }),
      /has an AgentCard of its own, .*was not deleted, because kubectl has written its spec\. The other one counts.*Delete AgentCard weather-deployment-card/,
    ],
    [
      observed([generated()], { ...enrolledOnly, appliedOverBy: 'argocd' }),
      /^The workload is no agent .*because argocd has written.*keeps the workload closed\. Delete AgentCard weather-deployment-card/,
    ],
  ];
  for (const [situation, note] of rows) {
    const { notices = [], ...writes } = decide(situation);
    assert.deepEqual(writes, {});
    assert.deepEqual(
      notices.map(({ type, reason }) => [type, reason]),
      [['Warning', 'CardNotWithdrawn']],
    );
    assert.match(notices[0]?.note ?? '', note);
  }
});

test('discovery: an owner is stated beside those of others, on the version that was seen', () => {
  const backup = { apiVersion: 'v1', kind: 'ConfigMap', name: 'backup', uid: 'b' };
  const stale = { ...owner, uid: 'old' };
  assert.deepEqual(decide(observed([generated({ ownerReferences: [stale, backup] })])), {
    patch: [{ target: ref, body: { metadata: { ownerReferences: [backup, owner], resourceVersion: '7' } } }],
  });
  const controlled = { ...backup, controller: true };
  const [patch] = decide(observed([generated({ ownerReferences: [controlled] })])).patch ?? [];
  assert.deepEqual(patch?.body['metadata'], {
    ownerReferences: [controlled, { ...owner, controller: false }],
    resourceVersion: '7',
  });
});

test('discovery: a name that is taken is an event with what to do, and no retry', () => {
  const plan = decide(observed([card(named, elsewhere)]));
  assert.deepEqual(Object.keys(plan), ['notices']);
  assert.equal(plan.notices?.[0]?.type, 'Warning');
  assert.match(
    plan.notices?.[0]?.note ?? '',
    /weather gets no AgentCard, so neither a verdict nor a network policy: the name weather-deployment-card is taken by one that targets Deployment news .*Rename that one, or make one/,
  );
});
