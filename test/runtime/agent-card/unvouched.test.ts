/** The verified label on a pod for which no card answers: taken away whoever set it, told only when it was not the operator. */

import assert from 'node:assert/strict';
import test from 'node:test';
import { verifiedPods } from '../../../runtime/agent-card/bearers.ts';
import { vouchingOf, withdrawal } from '../../../runtime/agent-card/unvouched.ts';
import { userAgent } from '../../../runtime/api/names.ts';
import type { KubeObject, ManagedFields } from '../../../runtime/engine/types.ts';
import { readerOf } from '../agent-runtime/reader.ts';
import { verified } from './card-fixtures.ts';

const wrote = (manager: string, label: string): ManagedFields => ({
  manager,
  operation: 'Update',
  fieldsV1: { 'f:metadata': { 'f:labels': { [`f:${label}`]: {} } } },
});
const podOf = (managedFields?: readonly ManagedFields[]): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    namespace: 'team1',
    name: 'a',
    uid: 'uid-a',
    labels: { [verified]: 'true' },
    ...(managedFields && { managedFields }),
  },
});

const rows: readonly (readonly [
  who: string,
  record: readonly ManagedFields[] | undefined,
  events: readonly string[],
])[] = [
  ['the operator', [wrote('kubelet', 'app'), wrote(userAgent, verified)], []],
  ['the operator and somebody else', [wrote('kubectl', verified), wrote(userAgent, verified)], []],
  ['somebody else', [wrote('kubectl', verified)], ['UnvouchedLabelRemoved']],
  [
    'somebody else, the operator another label',
    [wrote('kubectl', verified), wrote(userAgent, 'app')],
    ['UnvouchedLabelRemoved'],
  ],
  ['nobody that is recorded', [{ manager: 'odd', fieldsV1: null }], ['UnvouchedLabelRemoved']],
  ['nobody, where there is no record', undefined, ['UnvouchedLabelRemoved']],
];
for (const [who, record, events] of rows) {
  test(`a label that ${who} has set goes when no card answers for the pod`, () => {
    const kept = verifiedPods.keep?.(podOf(record)) ?? assert.fail('the record is not kept');
    const plan = withdrawal(vouchingOf(kept, readerOf(new Map())));
    assert.deepEqual(
      plan.patch?.map(({ target, body }) => [target.uid, body]),
      [['uid-a', { metadata: { labels: { [verified]: null } } }]],
    );
    assert.deepEqual(
      (plan.notices ?? []).map(({ reason }) => reason),
      events,
    );
  });
}

test('of the record only the names of those who set the label are kept', () => {
  const kept = verifiedPods.keep?.(podOf([wrote('kubelet', 'app'), wrote('kubectl', verified)]));
  assert.deepEqual(kept?.metadata.managedFields, [{ manager: 'kubectl' }]);
  assert.deepEqual(kept?.metadata.labels, { [verified]: 'true' });
});
