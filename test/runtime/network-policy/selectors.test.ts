/** A policy selects what the workload selects, in every form a selector has; and selectors mean here what they mean to the API server. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LabelSelector, NetworkPolicy } from '../../../runtime/api/kubernetes.ts';
import { decide } from '../../../runtime/network-policy/decide.ts';
import { isEverything, selects } from '../../../runtime/workload/selector.ts';
import { keepTemplateObject } from '../../../runtime/workload/keep.ts';
import { type WorkloadKind, workloadRows } from '../../../runtime/workload/kinds.ts';
import { type Workload, workloadOf } from '../../../runtime/workload/workload.ts';
import { now, observed, workload } from './fixtures.ts';

const forms: Readonly<Record<string, LabelSelector>> = {
  'one label': { matchLabels: { app: 'weather' } },
  'several labels': { matchLabels: { app: 'weather', tier: 'agent', 'app.kubernetes.io/part-of': 'x' } },
  'an empty value': { matchLabels: { app: '' } },
  In: { matchExpressions: [{ key: 'app', operator: 'In', values: ['weather', 'storm'] }] },
  NotIn: { matchExpressions: [{ key: 'app', operator: 'NotIn', values: ['other'] }] },
  Exists: { matchExpressions: [{ key: 'weather', operator: 'Exists' }] },
  DoesNotExist: { matchExpressions: [{ key: 'other', operator: 'DoesNotExist' }] },
  'labels and expressions': {
    matchLabels: { app: 'weather' },
    matchExpressions: [
      { key: 'track', operator: 'In', values: ['stable'] },
      { key: 'debug', operator: 'DoesNotExist' },
    ],
  },
  'an operator newer than this program': { matchExpressions: [{ key: 'a', operator: 'Gt', values: ['1'] }] },
};

function selectedBy(found: Workload): LabelSelector | undefined {
  const [fragment] = decide(observed({ target: { found } }), now).apply ?? [];
  return (fragment?.body as NetworkPolicy | undefined)?.spec?.podSelector;
}

for (const [form, selector] of Object.entries(forms)) {
  test(`copied as it is: ${form}`, () => {
    const found = workload('Deployment', { selector });
    assert.deepEqual(selectedBy(found), selector);
  });
}

const selecting: readonly WorkloadKind[] = ['Deployment', 'StatefulSet', 'DaemonSet', 'Job'];

for (const kind of selecting) {
  test(`the cache keeps the selector of a ${kind}, and the policy has it`, () => {
    const row = workloadRows.find((one) => one.kind === kind);
    assert.ok(row);
    const selector = forms['labels and expressions'];
    const whole = workload(kind, { selector, template: { metadata: {}, spec: { containers: [] } } }).object;
    const found = workloadOf(row, keepTemplateObject(whole, row.templatePath));
    assert.deepEqual(selectedBy(found), selector);
  });
}

const pod = { app: 'weather', track: 'stable', empty: '' };
const rows: readonly (readonly [
  operator: string,
  key: string,
  values: readonly string[] | undefined,
  expected: boolean,
])[] = [
  ['In', 'app', ['weather', 'x'], true],
  ['In', 'app', ['x'], false],
  ['In', 'none', ['x'], false],
  ['In', 'empty', [''], true],
  ['NotIn', 'app', ['weather'], false],
  ['NotIn', 'app', ['x'], true],
  ['NotIn', 'none', ['x'], true],
  ['Exists', 'empty', undefined, true],
  ['Exists', 'none', undefined, false],
  ['DoesNotExist', 'none', undefined, true],
  ['DoesNotExist', 'empty', undefined, false],
  ['Exists', 'toString', undefined, false],
  ['Gt', 'app', ['1'], false],
];

for (const [operator, key, values, expected] of rows) {
  test(`${key} ${operator} ${values?.join() ?? ''}: ${expected}`, () => {
    const expression = { key, operator, ...(values === undefined ? {} : { values }) };
    assert.equal(selects({ matchExpressions: [expression] }, pod), expected);
  });
}

test('labels and expressions hold together, and nothing asked for is everything', () => {
  assert.equal(selects({ matchLabels: { app: 'weather', track: 'canary' } }, pod), false);
  assert.equal(
    selects({ matchLabels: { app: 'weather' }, matchExpressions: [{ key: 'app', operator: 'DoesNotExist' }] }, pod),
    false,
  );
  assert.equal(selects({}, {}), true);
  assert.equal(isEverything({}), true);
  assert.equal(isEverything({ matchLabels: {}, matchExpressions: [] }), true);
  assert.equal(isEverything({ matchExpressions: [{ key: 'a', operator: 'Exists' }] }), false);
});
