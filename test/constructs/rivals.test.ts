/** Constructs about the same subject find each other, and looking costs the same however many others there are. */

import assert from 'node:assert/strict';
import test from 'node:test';
import { App, Chart } from 'cdk8s';
import { Construct } from 'constructs';
import { AgentRuntime } from '../../constructs/index.ts';
import { registerSubject, rivals, subjectOf } from '../../constructs/rivals.ts';
import { manifestsOf } from '../../stacks/tree.ts';

const target = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'weather' };

test('the version of a target is no other target; kind, name, namespace and what is said are', () => {
  const subject = subjectOf('AgentRuntime', 'team1', target);
  assert.equal(subjectOf('AgentRuntime', 'team1', { ...target, apiVersion: 'apps/v1beta1' }), subject);
  const others = [
    subjectOf('AgentCard', 'team1', target),
    subjectOf('AgentRuntime', 'team2', target),
    subjectOf('AgentRuntime', undefined, target),
    subjectOf('AgentRuntime', 'team1', { ...target, kind: 'StatefulSet' }),
    subjectOf('AgentRuntime', 'team1', { ...target, name: 'billing' }),
    subjectOf('AgentRuntime', 'team1', { ...target, apiVersion: 'other/v1' }),
  ];
  assert.equal(new Set([...others, subject]).size, others.length + 1);
});

test('rivals are those of the same app and still in it', () => {
  const [app, other] = [new App(), new App()];
  const group = new Construct(app, 'group');
  const [one, two, elsewhere] = [new Construct(app, 'one'), new Construct(group, 'two'), new Construct(other, 'one')];
  for (const each of [one, two, elsewhere]) registerSubject(each, 'subject');
  assert.deepEqual(rivals(one, 'subject'), [two]);
  assert.deepEqual(rivals(one, 'another'), []);
  app.node.tryRemoveChild('group');
  assert.deepEqual(rivals(one, 'subject'), []);
});

test('an AgentRuntime that was taken out again is no rival', () => {
  const chart = new Chart(new App(), 'chart', { namespace: 'team1' });
  new AgentRuntime(chart, 'first', { target, type: 'agent' });
  chart.node.tryRemoveChild('first');
  new AgentRuntime(chart, 'second', { target, type: 'agent' });
  assert.equal(manifestsOf(App.of(chart)).length, 1);
});

test('a construct is asked what is wrong with it once, however many charts there are', () => {
  const app = new App();
  let asked = 0;
  for (let index = 0; index < 20; index += 1) {
    const chart = new Chart(app, `chart-${index}`, { namespace: 'team1' });
    chart.node.addValidation({ validate: () => ((asked += 1), []) });
  }
  manifestsOf(app);
  assert.equal(asked, 20);
});
