/** What somebody else writes on a policy of ours, on a real API server: it is put back, and what concerns nobody stays. */

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { annotations, labels } from '../../runtime/api/names.ts';
import { eventually } from '../support/engine-bed.ts';
import { assertQuiet, inNamespace, type Operator, type PolicyBed, startPolicyBed } from './bed.ts';

let bed: PolicyBed;
let operator: Operator;
before(async () => {
  bed = await startPolicyBed('network-policy-drift');
  operator = await bed.startOperator();
});
after(() => bed.stop());

const drifts: readonly (readonly [what: string, body: object])[] = [
  [
    'one more label in the selector, which would free every pod',
    { spec: { podSelector: { matchLabels: { nobody: 'at-all' } } } },
  ],
  ['everybody let in', { spec: { ingress: [{}] } }],
  ['everything let out', { spec: { egress: [{}] } }],
  ['one side no longer restricted', { spec: { policyTypes: ['Ingress'] } }],
  ['our labels gone', { metadata: { labels: { [labels.managedBy]: null, [labels.policyType]: null } } }],
  ['its owner gone', { metadata: { ownerReferences: null } }],
  ['said to be open for a spec', { metadata: { annotations: { [annotations.verdictFor]: 'x' } } }],
  [
    'wide open, without its owner and our label, in one patch',
    {
      metadata: { ownerReferences: null, labels: { [labels.policyType]: null } },
      spec: { ingress: [{}], egress: [{}] },
    },
  ],
  [
    'wide open, and the record of who wrote it taken away',
    { metadata: { managedFields: [{}] }, spec: { ingress: [{}] } },
  ],
  [
    'the same, with another controller, labels and owner gone',
    {
      metadata: {
        managedFields: [{}],
        labels: null,
        ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'x', uid: 'x', controller: true }],
      },
      spec: { ingress: [{}], egress: [{}], podSelector: { matchLabels: { nobody: 'at-all' } } },
    },
  ],
  ['opened for a spec', { spec: { egress: [{}] }, metadata: { annotations: { [annotations.verdictFor]: 'x' } } }],
];

test('what somebody writes on it is put back, and so is the whole policy', async () => {
  const ns = await inNamespace(bed, 'drift');
  await ns.agent();
  const original = await ns.becomes('restrictive');
  const said = ({ metadata, spec }: typeof original) => ({
    spec,
    labels: metadata.labels,
    annotations: metadata.annotations,
    owner: metadata.ownerReferences,
  });
  for (const [what, body] of drifts) {
    const edited = await ns.edit(body);
    assert.notDeepEqual(said(edited as typeof original), said(original), what);
    await eventually(async () => {
      const now = await ns.policyOf();
      assert.ok(now !== undefined);
      assert.deepEqual(said(now), said(original), what);
    });
  }
  await ns.remove('networkPolicy', 'weather-signature-policy');
  const again = await ns.becomes('restrictive');
  assert.notEqual(again.metadata.uid, original.metadata.uid);
  assert.deepEqual(again.spec, original.spec);
  await assertQuiet(operator, ns.namespace, 'weather');
});

test('it is put back also while its workload is absent, although the record of who wrote it was taken away', async () => {
  const ns = await inNamespace(bed, 'absent');
  await ns.agent();
  const original = await ns.becomes('restrictive');
  await ns.remove('deployment', 'weather');
  await ns.edit({ metadata: { managedFields: [{}], labels: null }, spec: { ingress: [{}], egress: [{}] } });
  await eventually(async () => {
    const now = await ns.policyOf();
    assert.deepEqual([now?.spec, now?.metadata.labels], [original.spec, original.metadata.labels]);
  });
  await assertQuiet(operator, ns.namespace, 'weather');
});

test('ours is recognised by what the API server recorded, whoever is said to own it since', async () => {
  const ns = await inNamespace(bed, 'seized');
  await ns.agent();
  const original = await ns.becomes('restrictive');
  const configMap = await ns.create({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { namespace: ns.namespace, name: 'seizer' },
  });
  const { name = '', uid = '' } = configMap.metadata;
  const ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name, uid, controller: true }];
  await ns.edit({
    metadata: { ownerReferences, labels: null, annotations: null },
    spec: { ingress: [{}], egress: [{}] },
  });
  const now = await ns.becomes('restrictive');
  assert.equal(now.metadata.uid, original.metadata.uid);
  assert.deepEqual(now.metadata.ownerReferences, original.metadata.ownerReferences);
  assert.deepEqual(now.metadata.labels, original.metadata.labels);
  await ns.says('Restrictive');
  await assertQuiet(operator, ns.namespace, 'weather');
});

test('labels and annotations of others stay', async () => {
  const ns = await inNamespace(bed, 'others');
  await ns.agent();
  await ns.becomes('restrictive');
  await ns.edit({ metadata: { labels: { team: 'a' }, annotations: { note: 'b' } } });
  await assertQuiet(operator, ns.namespace, 'weather');
  await ns.judge('True');
  const { metadata } = await ns.becomes('permissive');
  assert.equal(metadata.labels?.['team'], 'a');
  assert.equal(metadata.annotations?.['note'], 'b');
});
