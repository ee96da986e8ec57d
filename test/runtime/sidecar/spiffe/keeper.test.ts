import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { createMetrics } from '../../../../runtime/engine/metrics.ts';
import type { Ending, Take, WorkloadApi } from '../../../../runtime/sidecar/spiffe/client.ts';
import { type IdentityState, readyLine } from '../../../../runtime/sidecar/spiffe/identity.ts';
import { createIdentityKeeper } from '../../../../runtime/sidecar/spiffe/keeper.ts';
import { fakeClock } from '../../../support/fake-clock.ts';
import { captureLog } from '../../engine/admission-fixtures.ts';
import { id, jwtResponse, leafOf, svidFields, svidResponse } from './answers.ts';

const denied: Ending = { kind: 'no-entry', sentence: 'the SPIRE agent knows no entry (no identity issued)' };
const away: Ending = {
  kind: 'unreachable',
  sentence: 'the SPIRE agent does not answer at /a.sock: nothing listens on it',
};

/** A keeper whose agent says what the test says, when it says it. */
function bed(t: TestContext) {
  const clock = fakeClock(new Date('2026-06-01T00:00:00Z'));
  const metrics = createMetrics({ process: false });
  const { log, lines } = captureLog();
  const calls: { readonly take: Take; readonly end: (ending: Ending) => void; readonly atMs: number }[] = [];
  const tokens: string[] = [];
  let isClosed = false;
  const api: WorkloadApi = {
    x509Svids: (take, signal) =>
      new Promise((resolve) => {
        calls.push({ take, end: resolve, atMs: clock.monotonicMs() });
        signal.addEventListener('abort', () => resolve({ kind: 'ended', sentence: '' }));
      }),
    x509Bundles: () => Promise.resolve(denied),
    jwtBundles: () => Promise.resolve(denied),
    jwtSvid: (audiences, spiffeId) => {
      tokens.push(`${spiffeId} ${audiences.join()}`);
      return Promise.resolve(
        jwtResponse({ sub: spiffeId, aud: [...audiences], exp: clock.now().getTime() / 1000 + 300 }, spiffeId),
      );
    },
    close: () => void (isClosed = true),
  };
  const pod = { namespace: 'team1', serviceAccount: 'weather-sa' };
  const keeper = createIdentityKeeper({ api, trustDomain: 'example.org', pod, clock, log, metrics, random: () => 0 });
  const stop = new AbortController();
  const done = keeper.run(stop.signal);
  t.after(async () => {
    stop.abort();
    await done;
    assert.ok(isClosed);
    assert.equal(clock.timers, 0);
  });
  const metric = async (name: string) => {
    const text = await metrics.text();
    return Number(
      text
        .split('\n')
        .find((line) => line.startsWith(`${name} `))
        ?.split(' ')
        .at(-1),
    );
  };
  const last = () => calls.at(-1) ?? assert.fail('the agent was not asked');
  return { clock, calls, last, identity: keeper.identity, lines, metric, tokens };
}

const kindOf = ({ kind }: IdentityState) => kind;
const faultOf = (state: IdentityState) => (state.kind === 'held' ? state.fault : `it is ${state.kind}`);

const ending = (end: string) => svidResponse([svidFields(leafOf({ notAfter: end }))]);

test('no entry is a state with a reason: it is asked again for ever, and logged once', async (t) => {
  const { clock, calls, last, identity, lines, metric } = bed(t);
  assert.match(readyLine(identity.state) ?? '', /has not answered yet/);
  for (let i = 0; i < 8; i += 1) {
    last().end(denied);
    await clock.advance(30_000);
  }
  assert.equal(calls.length, 9);
  assert.equal(
    readyLine(identity.state),
    'no SPIFFE identity yet: the SPIRE agent knows no entry for this pod (namespace team1, service account weather-sa); it needs a ClusterSPIFFEID or a registration entry that selects it',
  );
  assert.equal(lines.filter((line) => line.includes('no SPIFFE identity from the agent')).length, 1);
  assert.equal(await metric('rossoctl_sidecar_workload_api_connected'), 1);
});

test('the waits double from one second and end at five', async (t) => {
  const { clock, calls, last } = bed(t);
  const waits: number[] = [];
  for (let i = 0; i < 7; i += 1) {
    const before = calls.length;
    const begun = clock.monotonicMs();
    last().end(away);
    while (calls.length === before) await clock.advance(500);
    waits.push(clock.monotonicMs() - begun);
  }
  assert.deepEqual(waits, [1_000, 2_000, 4_000, 5_000, 5_000, 5_000, 5_000]);
});

test('an SVID is taken, told and counted; a message starts the waits anew', async (t) => {
  const { clock, calls, last, identity, metric } = bed(t);
  const seen: string[] = [];
  identity.subscribe((state) => seen.push(state.kind));
  for (let i = 0; i < 4; i += 1) {
    last().end(away);
    await clock.advance(30_000);
  }
  last().take(ending('2026-06-01T01:00:00Z'));
  assert.equal(identity.state.kind === 'held' && identity.state.svid.spiffeId, id);
  assert.deepEqual(seen, ['none', 'held']);
  assert.equal(await metric('rossoctl_sidecar_svid_expiry_seconds'), 3600 - 4 * 30);
  assert.equal(await metric('rossoctl_sidecar_svid_updates_total{outcome="taken"}'), 1);
  assert.equal(await metric('rossoctl_sidecar_workload_api_connected'), 1);
  const before = calls.length;
  last().end({ kind: 'ended', sentence: 'the SPIRE agent closed the stream' });
  await clock.advance(0);
  assert.equal(await metric('rossoctl_sidecar_workload_api_connected'), 0);
  await clock.advance(1_000);
  assert.equal(calls.length, before + 1);
});

test('the last SVID stays while the agent is away, is degraded, and is over at its end without anybody saying so', async (t) => {
  const { clock, last, identity } = bed(t);
  last().take(ending('2026-06-01T00:10:00Z'));
  const seen: string[] = [];
  identity.subscribe((state) => seen.push(state.kind));
  last().end(away);
  await clock.advance(10_000);
  assert.equal(faultOf(identity.state), away.sentence);
  await clock.advance(590_000);
  assert.equal(kindOf(identity.state), 'held');
  await clock.advance(1);
  assert.equal(kindOf(identity.state), 'expired');
  assert.deepEqual(seen, ['held', 'expired']);
  last().take(ending('2026-06-01T02:00:00Z'));
  assert.equal(kindOf(identity.state), 'held');
});

test('a clock that jumps over the end shows at once', async (t) => {
  const { clock, last, identity } = bed(t);
  last().take(ending('2026-06-01T00:10:00Z'));
  clock.jump(3_600_000);
  assert.equal(kindOf(identity.state), 'expired');
});

test('what cannot be used is refused, counted by its reason, and leaves the SVID that is held', async (t) => {
  const { last, identity, metric } = bed(t);
  last().take(svidResponse([svidFields(leafOf(), { spiffeId: 'spiffe://elsewhere.example/x' })]));
  assert.match(
    readyLine(identity.state) ?? '',
    /yet: what the SPIRE agent gives cannot be used: .*set spiffe\.trustDomain/,
  );
  last().take(ending('2026-06-01T01:00:00Z'));
  last().take(Buffer.from([0xff]));
  assert.match(faultOf(identity.state) ?? '', /cannot be used: it is no X509SVIDResponse/);
  assert.equal(await metric('rossoctl_sidecar_svid_updates_total{outcome="trust-domain-mismatch"}'), 1);
  assert.equal(await metric('rossoctl_sidecar_svid_updates_total{outcome="malformed-message"}'), 1);
  last().take(ending('2026-06-01T01:00:00Z'));
  assert.equal(faultOf(identity.state), undefined);
});

test('JWT-SVIDs are those of the identity that is held; without one none is asked for', async (t) => {
  const { last, identity, tokens } = bed(t);
  const none = await identity.jwt('keycloak');
  assert.match('unavailable' in none ? none.unavailable : '', /^no SPIFFE identity yet/);
  assert.deepEqual(tokens, []);
  last().take(ending('2026-06-01T01:00:00Z'));
  const some = await identity.jwt('keycloak');
  assert.ok('token' in some);
  assert.equal(some.spiffeId, id);
  await identity.jwt('keycloak');
  assert.deepEqual(tokens, [`${id} keycloak`]);
});

test('a listener that fails harms no other, and one that left is not called', (t) => {
  const { last, identity, lines } = bed(t);
  const seen: string[] = [];
  identity.subscribe(() => {
    throw new Error('mine');
  });
  identity.subscribe(({ kind }) => seen.push(kind));
  identity.subscribe(({ kind }) => seen.push(kind))();
  last().take(ending('2026-06-01T01:00:00Z'));
  assert.deepEqual(seen, ['held']);
  assert.ok(lines.some((line) => line.includes('a listener to the SPIFFE identity failed')));
});

test('no line of the log holds a key', (t) => {
  const { last, lines } = bed(t);
  last().take(ending('2026-06-01T01:00:00Z'));
  last().take(svidResponse([svidFields(leafOf(), { bundle: Buffer.alloc(0) })]));
  assert.ok(lines.length >= 2);
  assert.doesNotMatch(lines.join(), /PRIVATE KEY|MIG[EH]/);
});
