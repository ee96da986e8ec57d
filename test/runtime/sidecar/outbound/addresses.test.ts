/** Where a host is: looked up as seldom as can be, and never more at once than is bounded. */

import assert from 'node:assert/strict';
import test from 'node:test';
import { createAddresses } from '../../../../runtime/sidecar/outbound/addresses.ts';
import { fakeClock } from '../../../support/fake-clock.ts';
import { now } from './fixtures.ts';

const noSignal = new AbortController().signal;

test('a host is looked up once in a while, and again before a request is sent elsewhere', async () => {
  const clock = fakeClock(now);
  let addresses = ['10.0.0.1'];
  let lookups = 0;
  const placeOf = createAddresses({ clock, resolve: async () => ((lookups += 1), addresses) });
  assert.deepEqual(await placeOf('svc', '10.0.0.1', noSignal), { kind: 'there' });
  assert.deepEqual(await placeOf('svc', '::ffff:10.0.0.1', noSignal), { kind: 'there' });
  assert.equal(lookups, 1);
  addresses = ['10.0.0.2'];
  await clock.advance(1_500);
  assert.deepEqual(await placeOf('svc', '10.0.0.2', noSignal), { kind: 'there' });
  assert.deepEqual(await placeOf('svc', '10.0.0.9', noSignal), { kind: 'elsewhere', address: '10.0.0.2' });
  assert.equal(lookups, 2);
  await clock.advance(5_000);
  await Promise.all(Array.from({ length: 30 }, () => placeOf('svc', '10.0.0.2', noSignal)));
  assert.equal(lookups, 3);
  assert.deepEqual(await placeOf('10.9.9.9', '10.9.9.9', noSignal), { kind: 'there' });
  assert.deepEqual(await placeOf('fd00::1', '10.9.9.9', noSignal), { kind: 'elsewhere', address: 'fd00::1' });
  assert.equal(lookups, 3);
});

test('a look-up that hangs ends with the request', async () => {
  const placeOf = createAddresses({ clock: fakeClock(now), resolve: () => new Promise(() => undefined) });
  const controller = new AbortController();
  const place = placeOf('svc', '10.0.0.1', controller.signal);
  controller.abort();
  assert.deepEqual(await place, { kind: 'unknown' });
});

test('look-ups that nobody waits for any more are bounded together: more names are unknown until one has ended', async () => {
  const ends: (() => void)[] = [];
  const resolve = (): Promise<string[]> => new Promise((end) => ends.push(() => end(['10.0.0.1'])));
  const placeOf = createAddresses({ clock: fakeClock(now), resolve });
  for (let i = 0; i < 300; i += 1) {
    const gone = new AbortController();
    const place = placeOf(`name-${i}.evil`, '10.0.0.1', gone.signal);
    gone.abort();
    assert.deepEqual(await place, { kind: 'unknown' });
  }
  assert.equal(ends.length, 256);
  ends[0]?.();
  await new Promise((next) => setImmediate(next));
  const found = placeOf('svc', '10.0.0.1', new AbortController().signal);
  assert.equal(ends.length, 257);
  ends[256]?.();
  assert.deepEqual(await found, { kind: 'there' });
});
