import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createClient } from '../../../runtime/engine/client.ts';
import { ApiError, ApiUnreachable } from '../../../runtime/engine/errors.ts';
import { isObject, member } from '../../../runtime/engine/json.ts';
import { createLeaderElection } from '../../../runtime/engine/leader.ts';
import { createMetrics } from '../../../runtime/engine/metrics.ts';
import type { RequestSpec, Transport } from '../../../runtime/engine/transport.ts';
import { memoryLog } from '../../support/engine-bed.ts';
import { type FakeClock, fakeClock } from '../../support/fake-clock.ts';

/** One lease as an API server keeps it: created once, replaced only at its version. */
function leaseServer() {
  let stored: unknown;
  let version = 0;
  const writers: string[] = [];
  const refuse = (status: number) => new ApiError({ status, reason: '', message: '', request: '' });
  const request = (spec: RequestSpec): unknown => {
    if (spec.method === 'GET') {
      if (stored === undefined) throw refuse(404);
      return stored;
    }
    const { body } = spec;
    const isStale = member(body, 'metadata', 'resourceVersion') !== member(stored, 'metadata', 'resourceVersion');
    if (!isObject(body) || (spec.method === 'POST' ? stored !== undefined : isStale)) throw refuse(409);
    version += 1;
    const metadata = member(body, 'metadata');
    stored = { ...body, metadata: { ...(isObject(metadata) ? metadata : {}), resourceVersion: String(version) } };
    writers.push(String(member(stored, 'spec', 'holderIdentity')));
    return stored;
  };
  return { request, writers, spec: (name: string) => member(stored, 'spec', name) };
}

type Server = ReturnType<typeof leaseServer>;

interface Contender {
  readonly election: ReturnType<typeof createLeaderElection>;
  readonly events: string[];
  /** `deaf`: no answer, nothing written. `lossy`: written, but the answer is lost. */
  line: 'good' | 'deaf' | 'lossy';
}

function contender(server: Server, clock: FakeClock, identity: string): Contender {
  const events: string[] = [];
  const transport: Transport = {
    request: (spec) => {
      const unanswered = (why: string) => Promise.reject(new ApiUnreachable('', new Error(why)));
      if (self.line === 'deaf') return unanswered('deaf');
      const answer = new Promise((resolve) => resolve(server.request(spec)));
      const lost = () => unanswered('lost');
      return self.line === 'lossy' ? answer.then(lost, lost) : answer;
    },
    stream: () => Promise.reject(new Error('no watches here')),
    dropConnections: () => {},
    close: () => Promise.resolve(),
  };
  const election = createLeaderElection({
    client: createClient(transport),
    clock,
    log: memoryLog(),
    metrics: createMetrics({ process: false }),
    lease: { namespace: 'n', name: 'l' },
    identity,
    random: () => 0,
    onHeld: () => void events.push('held'),
    onLost: (reason) => void events.push(`lost: ${reason}`),
  });
  const self: Contender = { election, events, line: 'good' };
  return self;
}

function pair() {
  const clock = fakeClock();
  const server = leaseServer();
  return { clock, server, a: contender(server, clock, 'a'), b: contender(server, clock, 'b') };
}

test('the first takes the lease and renews it every two seconds; the second waits', async () => {
  const { clock, server, a, b } = pair();
  a.election.start();
  await clock.advance(0);
  b.election.start();
  await clock.advance(60_000);
  assert.deepEqual([a.events, b.events], [['held'], []]);
  assert.equal(server.writers.filter((one) => one === 'a').length, 31);
  assert.equal(b.election.holder, 'a');
  a.election.assertHeld();
  assert.throws(() => b.election.assertHeld(), { code: 'LOST_LEASE' });
});

test('LE-02: one that cannot renew stops at ten seconds, another begins no sooner than fifteen', async () => {
  const { clock, a, b } = pair();
  a.election.start();
  await clock.advance(0);
  b.election.start();
  await clock.advance(10_000);
  a.line = 'deaf';
  await clock.advance(9_999);
  assert.equal(a.election.isHeld, true);
  await clock.advance(1);
  assert.match(a.events[1] ?? '', /lost: it could not be renewed for 10000 ms: .*deaf/);
  assert.throws(() => a.election.assertHeld(), { code: 'LOST_LEASE' });
  await clock.advance(4_000);
  assert.deepEqual(b.events, []);
  await clock.advance(4_000);
  assert.deepEqual(b.events, ['held']);
  a.line = 'good';
  await clock.advance(60_000);
  assert.equal(a.events.length, 2, 'it does not take part again');
});

test('LE-02: after a stalled event loop no write passes, before any timer has fired', async () => {
  const { clock, a } = pair();
  a.election.start();
  await clock.advance(1_000);
  clock.stall(10_000);
  assert.equal(a.election.isHeld, false);
  assert.throws(() => a.election.assertHeld(), { code: 'LOST_LEASE' });
  assert.match(a.events[1] ?? '', /lost/);
});

test('a jump of the wall clock changes nothing, at the holder or at the one that waits', async () => {
  const { clock, a, b } = pair();
  a.election.start();
  await clock.advance(0);
  b.election.start();
  await clock.advance(5_000);
  for (const ms of [3_600_000, -7_200_000]) {
    clock.jump(ms);
    await clock.advance(20_000);
  }
  assert.deepEqual([a.events, b.events], [['held'], []]);
  a.election.assertHeld();
});

test('a renewal whose answer was lost is found to be our own', async () => {
  const { clock, a } = pair();
  a.election.start();
  await clock.advance(3_000);
  a.line = 'lossy';
  await clock.advance(4_000);
  a.line = 'good';
  await clock.advance(30_000);
  assert.deepEqual(a.events, ['held']);
  a.election.assertHeld();
});

test('a stop gives the lease back at once, and leaves no timer', async () => {
  const { clock, server, a, b } = pair();
  a.election.start();
  await clock.advance(3_000);
  await a.election.stop();
  assert.equal(server.spec('holderIdentity'), '');
  b.election.start();
  await clock.advance(0);
  assert.deepEqual(b.events, ['held']);
  assert.equal(server.spec('leaseTransitions'), 1);
  await b.election.stop();
  assert.equal(clock.timers, 0);
  assert.deepEqual(a.events, ['held']);
});

test('LE-01: why the lease cannot be written is there to be seen, and goes away', async () => {
  const { clock, a } = pair();
  a.line = 'deaf';
  a.election.start();
  await clock.advance(1_000);
  assert.match(a.election.problem ?? '', /deaf/);
  a.line = 'good';
  await clock.advance(2_000);
  assert.equal(a.election.problem, undefined);
  assert.equal(a.election.isHeld, true);
});
