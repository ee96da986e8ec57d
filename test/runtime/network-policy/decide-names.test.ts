/** Policies that are, or were, another card's or nobody's. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { LabelSelector } from '../../../runtime/api/kubernetes.ts';
import { fieldManagers } from '../../../runtime/api/names.ts';
import { decide } from '../../../runtime/network-policy/decide.ts';
import { judgedPart } from '../../../runtime/workload/verdicts.ts';
import { name, removed, said, verified, written } from './decide-rows.ts';
import { card, now, observed, permissive, policy, selector } from './fixtures.ts';

const statefulSet = { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'weather' };

describe('names that two cards want', () => {
  const holder = card({ name: 'other', spec: { targetRef: statefulSet } });
  const held = (podSelector: LabelSelector = { matchLabels: { app: 'set' } }) => policy({ card: holder, podSelector });

  test('a policy that another living card controls for other pods is waited for', () => {
    const plan = decide(observed({ card: verified, policy: held(), holder, own: [] }), now);
    assert.deepEqual(written(plan), []);
    assert.equal(said(plan), 'False/NameHeld');
    assert.equal(plan.afterMs, 30_000);
  });

  test('a policy that already selects these pods is taken over, in one write', () => {
    const plan = decide(observed({ card: verified, policy: held(selector), holder, own: [] }), now);
    assert.deepEqual(written(plan), [`${name} permissive`]);
    const [owner] = plan.apply?.[0]?.body.metadata.ownerReferences ?? [];
    assert.equal(owner?.uid, verified.metadata.uid);
  });

  test('a policy of a card that lost this workload to ours is taken over; its opening is not', () => {
    const loser = card({ name: 'loser', verified: 'True' });
    const opened = permissive({ card: loser, verdictFor: judgedPart(loser) });
    const stale = card({ verified: 'True', generation: 2 });
    const plan = decide(observed({ card: stale, policy: opened, holder: loser, own: [] }), now);
    assert.deepEqual(written(plan), [`${name} restrictive`]);
  });

  test('a policy whose card is gone is taken over', () => {
    const gone = policy({ card: card({ name: 'gone' }) });
    assert.deepEqual(written(decide(observed({ policy: gone, own: [] }), now)), [`${name} restrictive`]);
  });

  test('ours without an owner is ours; one that somebody else has made is not, whatever labels and owners it has', () => {
    const { ownerReferences: _, ...metadata } = policy().metadata;
    const bare = { ...policy(), metadata };
    assert.deepEqual(written(decide(observed({ policy: bare, own: [] }), now)), [`${name} restrictive`]);
    for (const each of [policy(), bare]) {
      const managedFields = [{ manager: 'kubectl-create', operation: 'Update' }] as const;
      const copied = { ...each, metadata: { ...each.metadata, managedFields } };
      const plan = decide(observed({ policy: copied, own: [] }), now);
      assert.deepEqual([said(plan), plan.apply, plan.remove], ['False/Unenforced', undefined, []]);
    }
  });

  test('ours by the record of field managers, whatever a patch took away; another’s controller on it is replaced first', () => {
    const managedFields = [{ manager: fieldManagers.networkPolicy, operation: 'Apply' }] as const;
    const { namespace = '', uid = '' } = policy().metadata;
    const metadata = { namespace, name, uid, resourceVersion: '7', managedFields };
    const wide = { ...policy(), metadata, spec: { podSelector: selector, ingress: [{}] } };
    assert.deepEqual(written(decide(observed({ policy: wide, own: [] }), now)), [`${name} restrictive`]);
    const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'x', uid: 'x', controller: true };
    const seized = { ...wide, metadata: { ...metadata, ownerReferences: [owner] } };
    const plan = decide(observed({ policy: seized, own: [] }), now);
    assert.equal(plan.apply, undefined);
    const { ownerReferences } = policy().metadata;
    assert.deepEqual(plan.patch?.[0]?.body, { metadata: { ownerReferences, resourceVersion: '7' } });
    assert.equal(plan.patch[0].target.uid, uid);
    for (const [manager, operation] of [
      ['kubectl', 'Apply'],
      [fieldManagers.networkPolicy, 'Update'],
    ] as const) {
      const foreign = { ...wide, metadata: { ...metadata, managedFields: [{ manager, operation }] } };
      assert.equal(said(decide(observed({ policy: foreign, own: [] }), now)), 'False/NameTaken');
    }
  });

  test('ours without its record is written anew, once a controller that somebody gave it is replaced', () => {
    const { managedFields: _, ...metadata } = policy({ card: card({ name: 'other' }) }).metadata;
    const stripped = { ...policy(), metadata };
    const seized = decide(observed({ policy: stripped, isOurs: true, own: [] }), now);
    const { ownerReferences } = policy().metadata;
    assert.deepEqual(seized.patch?.[0]?.body, { metadata: { ownerReferences, resourceVersion: '1' } });
    const owned = { ...stripped, metadata: { ...metadata, ownerReferences } };
    assert.deepEqual(written(decide(observed({ policy: owned, isOurs: true, own: [] }), now)), [`${name} restrictive`]);
  });

  test('a policy that another card takes over is left to it, whether this card counts, turned elsewhere or is in nobody’s way', () => {
    const old = policy({ name: 'old-signature-policy' });
    const awaited = new Set(['old-signature-policy']);
    for (const over of [{}, { counts: false }, { target: { unsupported: 'none' } }]) {
      const plan = decide(observed({ ...over, own: [old], awaited }), now);
      assert.deepEqual(plan.remove, []);
      assert.equal(plan.afterMs, 30_000);
    }
    const audit = decide(observed({ isAudit: true, own: [old], awaited }), now);
    assert.deepEqual(removed(audit), ['old-signature-policy']);
  });
});
