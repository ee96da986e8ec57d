/** What an agent said and when it is lost, as long as it is asked and while there is nobody to ask. */

import assert from 'node:assert/strict';
import test from 'node:test';
import type { Contact, Contacts, Wanted } from '../../../runtime/agent-card/contact.ts';
import { createTalks, type Partner } from '../../../runtime/agent-card/talks.ts';
import { card, endpoint, later, now } from './card-fixtures.ts';

const received = { body: Buffer.from('{}'), hash: 'h', path: '/p' };

/** Contacts that say what they are told. */
function contactsOf(say: () => Contact | undefined) {
  const calls: string[] = [];
  const wants: Wanted[] = [];
  const contacts: Contacts = {
    keep: (_, __, wanted) => {
      calls.push('keep');
      wants.push(wanted);
    },
    refresh: () => void calls.push('refresh'),
    forget: () => void calls.push('forget'),
    of: say,
    source: { name: 'none', start: () => () => {} },
  };
  return { contacts, calls, wants };
}

const partner: Partner = { workload: 'uid-d', endpoints: [endpoint], isNew: true, silentSince: undefined };

test('what an agent said is remembered while there is nobody to ask, for three periods', () => {
  let at = now;
  let contact: Contact | undefined = { received, answeredAt: now, isLost: false };
  const { contacts, calls, wants } = contactsOf(() => contact);
  const talks = createTalks({ contacts, verdictSyncPeriods: 3, now: () => at });
  assert.equal(talks.with(card(), partner).isAnswered, true);
  assert.deepEqual(wants, [{ endpoints: [endpoint], periodMs: 30_000, patienceMs: 90_000, isNew: true }]);
  const away = talks.with(card(), { ...partner, endpoints: undefined });
  assert.deepEqual([away.received, away.isLost, away.lostAt], [received, false, later(90_000)]);
  assert.deepEqual(calls, ['keep', 'forget']);
  contact = undefined;
  at = later(90_000);
  assert.equal(talks.with(card(), { ...partner, endpoints: undefined }).isLost, true);
  assert.equal(talks.with(card(), { ...partner, workload: undefined, endpoints: undefined }).received, received);
  contact = { received, answeredAt: at, isLost: false };
  assert.equal(talks.with(card(), partner).isLost, false);
});

test('once lost, only an answer ends it: not a longer period, not a pod that is there again', () => {
  let at = now;
  let contact: Contact | undefined = { received, answeredAt: now, isLost: false };
  const { contacts } = contactsOf(() => contact);
  const talks = createTalks({ contacts, verdictSyncPeriods: 3, now: () => at });
  const away = { ...partner, endpoints: undefined };
  const patient = card({ syncPeriod: '1h' });
  talks.with(card(), partner);
  talks.with(card(), away);
  contact = undefined;
  at = later(60_000);
  assert.equal(talks.with(patient, away).isLost, false, 'it was in time by then');
  at = later(90_000);
  assert.equal(talks.with(card(), away).isLost, true);
  assert.equal(talks.with(patient, away).isLost, true);
  contact = { isLost: false };
  assert.equal(talks.with(patient, partner).isLost, true, 'it is asked and has not answered');
  contact = { received, answeredAt: at, isLost: false };
  assert.equal(talks.with(patient, partner).isLost, false);
  contact = { received, answeredAt: at, isLost: true };
  assert.equal(talks.with(patient, partner).isLost, true);
  contact = undefined;
  assert.equal(talks.with(patient, away).isLost, true, 'its pod went after it was lost');
});

test('a silence that an earlier process has seen the beginning of counts from there', () => {
  let contact: Contact | undefined;
  const { contacts } = contactsOf(() => contact);
  const talks = createTalks({ contacts, verdictSyncPeriods: 3, now: () => now });
  const silentSince = later(-60_000);
  const talk = talks.with(card(), { ...partner, silentSince });
  assert.deepEqual([talk.isLost, talk.lostAt], [false, later(30_000)]);
  assert.deepEqual(talks.with(card(), partner).lostAt, later(30_000));
  contact = { received, answeredAt: now, isLost: false };
  assert.equal(talks.with(card(), partner).isLost, false);
  const longAgo = { ...card(), metadata: { ...card().metadata, uid: 'uid-other' } };
  contact = undefined;
  assert.equal(talks.with(longAgo, { ...partner, silentSince: later(-90_000) }).isLost, true);
});

test('another workload of that name is another agent', () => {
  let contact: Contact | undefined = { received, answeredAt: now, isLost: false };
  const { contacts, calls } = contactsOf(() => contact);
  const talks = createTalks({ contacts, verdictSyncPeriods: 3, now: () => now });
  talks.with(card(), partner);
  contact = undefined;
  assert.equal(talks.with(card(), { ...partner, workload: 'uid-e' }).received, undefined);
  assert.ok(calls.includes('forget'));
});

test('a card that is repointed to a workload that cannot be read takes nothing along from the former one', () => {
  let contact: Contact | undefined = { received, answeredAt: now, isLost: false, via: 'Service weather' };
  const { contacts } = contactsOf(() => contact);
  const talks = createTalks({ contacts, verdictSyncPeriods: 3, now: () => now });
  talks.with(card(), partner);
  contact = undefined;
  const unreadable = { ...partner, workload: undefined, endpoints: undefined };
  assert.equal(talks.with(card(), unreadable).received, received, 'the same one');
  const job = card({ targetRef: { apiVersion: 'batch/v1', kind: 'Job', name: 'weather' } });
  assert.equal(talks.with(job, unreadable).received, undefined);
  assert.equal(talks.with(card(), unreadable).answeredAt, undefined, 'nor when it is repointed back');
});

test('a large body is not remembered twice', () => {
  const large = { ...received, body: Buffer.alloc(70_000) };
  let contact: Contact | undefined = { received: large, answeredAt: now, isLost: false };
  const { contacts } = contactsOf(() => contact);
  const talks = createTalks({ contacts, verdictSyncPeriods: 3, now: () => now });
  assert.equal(talks.with(card(), partner).received, large);
  contact = undefined;
  const { received: left } = talks.with(card(), { ...partner, endpoints: undefined });
  assert.deepEqual([left?.hash, left?.body], ['h', undefined]);
});
