import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { leaseTime, newLease, released, taken } from '../../../runtime/engine/lease-record.ts';

const key = { namespace: 'n', name: 'l' };
const t1 = new Date('2026-01-02T03:04:05.000Z');
const t2 = new Date('2026-01-02T03:04:07.120Z');
const a = { identity: 'a', durationSeconds: 15 };
const b = { identity: 'b', durationSeconds: 15 };

test('property: LE-01, every lease time has exactly six fractional digits', () => {
  const inYears = fc.date({ min: new Date('2000-01-01'), max: new Date('2100-01-01'), noInvalidDate: true });
  fc.assert(
    fc.property(inYears, (at) => {
      assert.match(leaseTime(at), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
      assert.equal(new Date(leaseTime(at)).getTime(), at.getTime());
    }),
  );
});

test('a renewal moves the renew time alone; another holder is a transition', () => {
  const first = newLease(key, a, t1);
  assert.deepEqual(first.spec, {
    holderIdentity: 'a',
    leaseDurationSeconds: 15,
    acquireTime: '2026-01-02T03:04:05.000000Z',
    renewTime: '2026-01-02T03:04:05.000000Z',
    leaseTransitions: 0,
  });
  const renewed = taken(first, a, t2);
  assert.deepEqual(renewed.spec, { ...first.spec, renewTime: '2026-01-02T03:04:07.120000Z' });
  const next = taken(renewed, b, t2);
  assert.equal(next.spec?.leaseTransitions, 1);
  assert.equal(next.spec?.acquireTime, '2026-01-02T03:04:07.120000Z');
});

test('a released lease has no holder, counts the next as a transition, and keeps what others wrote into it', () => {
  const lease = { ...newLease(key, a, t1), metadata: { ...key, annotations: { x: 'y' }, resourceVersion: '7' } };
  const free = released(lease, t2);
  assert.equal(free.spec?.holderIdentity, '');
  assert.deepEqual(free.metadata, lease.metadata);
  assert.equal(taken(free, b, t2).spec?.leaseTransitions, 1);
});
