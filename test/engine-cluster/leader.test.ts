import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createLeaderElection, type LeaderElection } from '../../runtime/engine/leader.ts';
import { leaseKind } from '../../runtime/engine/lease-record.ts';
import type { ElectionCallbacks, Manager } from '../../runtime/engine/manager.ts';
import { type ControlPlane, startControlPlane } from '../lab/control-plane.ts';
import {
  type Bed,
  configMap,
  configMaps,
  createBed,
  createManagerOn,
  eventually,
  metric,
  portOf,
  reach,
} from '../support/engine-bed.ts';
import { type FaultProxy, startFaultProxy } from '../support/fault-proxy.ts';
import { type HttpProxy, startHttpProxy } from '../support/http-proxy.ts';
import { installWidgets, widget, widgetController, widgetKind } from '../support/widget.ts';

const kind = widgetKind();
const times = { durationMs: 3_000, renewDeadlineMs: 2_000, retryMs: 300 };
let plane: ControlPlane;
let front: HttpProxy;
let direct: Bed;
let lease = { namespace: 'default', name: '' };
let count = 0;

before(async () => {
  plane = await startControlPlane({ name: 'leader' });
  front = await startHttpProxy(plane, { dir: plane.certificatesDir, name: 'kube-apiserver' });
  direct = createBed(reach({ port: portOf(plane), certificatesDir: plane.certificatesDir }));
  await installWidgets(direct.client, kind);
  await direct.client.create(kind, widget(kind, 'default', 'w', { target: 't', color: 'red' }));
  await direct.client.create(configMaps, configMap('default', 't'));
});
after(async () => {
  await direct.close();
  await front.close();
  await plane.stop();
});
beforeEach(() => {
  count += 1;
  lease = { namespace: 'default', name: `lease-${count}` };
  front.requests.length = 0;
});

interface Replica {
  readonly name: string;
  readonly manager: Manager;
  readonly bed: Bed;
  readonly lost: string[];
  /** As the recorder saw them, lease requests not counted. */
  writes(): readonly number[];
  leaseWrites(): readonly { readonly atMs: number; readonly body: string }[];
}

/** A manager that writes as often as it can: each pass patches the target with another value. */
async function startReplica(
  t: { after(fn: () => Promise<void>): void },
  name: string,
  onObserve: () => void = () => {},
  pace: typeof times = times,
): Promise<Replica & { readonly proxy: FaultProxy }> {
  const proxy = await startFaultProxy(front.port);
  const connection = reach({ port: proxy.port, certificatesDir: plane.certificatesDir });
  const bed = createBed(connection, { userAgent: name });
  const leaseBed = createBed(connection, { userAgent: `${name}-lease` });
  const lost: string[] = [];
  const election = (on: ElectionCallbacks): LeaderElection =>
    createLeaderElection({ ...bed, client: leaseBed.client, lease, identity: name, ...pace, ...on });
  const manager = createManagerOn(bed, { election, onLost: (reason) => lost.push(reason) });
  let value = 0;
  const patch = () => {
    value += 1;
    const target = { kind: configMaps, namespace: 'default', name: 't' };
    return { apply: [], patch: [{ target, body: { data: { [name]: String(value) } } }] };
  };
  const controller = widgetController({ kind, name, fieldManager: name, plan: patch, onObserve });
  manager.addController(controller);
  await manager.start();
  const beat = setInterval(() => manager.wake(name, { namespace: 'default', name: 'w' }), 20);
  t.after(async () => {
    clearInterval(beat);
    await manager.stop();
    await bed.close();
    await leaseBed.close();
    await proxy.close();
  });
  const ofAgent = (agent: string) =>
    front.requests.filter(({ userAgent, method }) => userAgent === agent && method !== 'GET');
  return {
    name,
    manager,
    bed,
    lost,
    proxy,
    writes: () => ofAgent(name).map(({ atMs }) => atMs),
    leaseWrites: () => ofAgent(`${name}-lease`),
  };
}

const leads = ({ manager, name }: Replica) => manager.health().lease.isHeld && manager.health().lease.holder === name;

/** Nobody writes while another may: the loser's last write comes before its deadline and before the winner's first. */
function assertNoOverlap(loser: Replica, winner: Replica, lastRenewalMs: number): void {
  const last = loser.writes().at(-1) ?? assert.fail('the first leader never wrote');
  const first = winner.writes()[0] ?? assert.fail('the second leader never wrote');
  assert.ok(last < first, `the old leader wrote ${Math.round(last - first)} ms after the new one`);
  assert.ok(last - lastRenewalMs <= times.renewDeadlineMs + 500, 'it stopped by its deadline');
  assert.ok(first - lastRenewalMs >= times.durationMs, 'the other waited for the whole duration');
}

describe('leader election', () => {
  test('LE-01: every time in every lease body has six fractional digits, and the API server takes it', async (t) => {
    const one = await startReplica(t, 'le01');
    await eventually(() => leads(one));
    await eventually(() => one.leaseWrites().length >= 3);
    for (const { body } of one.leaseWrites()) {
      const times = body.match(/"(acquireTime|renewTime)":"([^"]*)"/g) ?? [];
      assert.ok(times.length === 2);
      for (const time of times) assert.match(time, /T\d\d:\d\d:\d\d\.\d{6}Z"$/);
    }
    const { spec } = await direct.client.get(leaseKind, lease);
    assert.equal(spec?.holderIdentity, 'le01');
    assert.equal(spec?.leaseDurationSeconds, 3);
    assert.equal(await metric(one.bed, `leader_election_master_status{name="${lease.name}"}`), 1);
  });

  test('LE-01: a lease that cannot be written is said in log, metric and health, and nothing runs', async (t) => {
    const end = front.rule(({ url, method }) =>
      url.includes('/leases') && method !== 'GET' ? { status: 403 } : undefined,
    );
    const one = await startReplica(t, 'forbidden');
    await eventually(() => assert.match(one.manager.health().lease.problem ?? '', /403/));
    assert.ok(
      one.bed.log.lines.some(
        ({ level, message }) => level === 'warn' && message === 'lease cannot be created or renewed',
      ),
    );
    assert.equal(await metric(one.bed, `leader_election_master_status{name="${lease.name}"}`), 0);
    assert.deepEqual(
      one.manager.health().controllers.map(({ state }) => state),
      ['standby'],
    );
    assert.equal(one.writes().length, 0);
    end();
    await eventually(() => leads(one));
    assert.equal(one.manager.health().lease.problem, undefined);
  });

  test('LE-02: a leader whose renewals fail, but whose other requests pass, stops before another begins', async (t) => {
    const one = await startReplica(t, 'one');
    await eventually(() => leads(one) && one.writes().length > 5);
    const two = await startReplica(t, 'two');
    await sleep(1_000);
    assert.equal(two.writes().length, 0);
    const end = front.rule(({ url, userAgent }) =>
      url.includes('/leases') && userAgent === 'one-lease' ? { status: 500 } : undefined,
    );
    const lastRenewalMs = one.leaseWrites().at(-1)?.atMs ?? 0;
    await eventually(() => leads(two) && two.writes().length > 5, 15_000);
    end();
    assertNoOverlap(one, two, lastRenewalMs);
    assert.match(one.lost[0] ?? '', /could not be renewed/);
    const { spec } = await direct.client.get(leaseKind, lease);
    assert.equal(spec?.leaseTransitions, 1);
    await sleep(1_000);
    assert.ok(
      (one.writes().at(-1) ?? 0) < (two.writes()[0] ?? 0),
      'the old leader stays silent after its access is back',
    );
  });

  test('LE-02: a leader that is cut off, with a write in flight, stops by itself', async (t) => {
    const one = await startReplica(t, 'cut');
    await eventually(() => leads(one) && one.writes().length > 5);
    const two = await startReplica(t, 'next');
    one.proxy.set({ mode: 'black-hole' });
    const lastRenewalMs = one.leaseWrites().at(-1)?.atMs ?? 0;
    await eventually(() => leads(two) && two.writes().length > 5, 15_000);
    assert.equal(one.lost.length, 1);
    assert.equal(one.manager.health().lease.isHeld, false);
    one.proxy.set({ mode: 'pass' });
    await sleep(500);
    assertNoOverlap(one, two, lastRenewalMs);
  });

  test('LE-02: a pass that stalls the event loop beyond the deadline writes nothing afterwards', async (t) => {
    let stallMs = 0;
    const one = await startReplica(t, 'stalled', () => {
      const end = performance.now() + stallMs;
      while (performance.now() < end);
      stallMs = 0;
    });
    await eventually(() => leads(one) && one.writes().length > 5);
    stallMs = times.renewDeadlineMs + 200;
    await eventually(() => one.lost.length === 1);
    const before = one.writes().length;
    await sleep(1_000);
    assert.equal(one.writes().length, before);
    const [last = 0] = one.writes().slice(-1);
    assert.ok(performance.now() - last > 1_000 + stallMs);
  });

  test('a stop gives the lease back: the other leads at once; and an edit of the lease by hand loses nothing', async (t) => {
    // Times so long that only a lease given back explains a successor within them.
    const slow = { ...times, durationMs: 60_000, renewDeadlineMs: 40_000 };
    const one = await startReplica(t, 'first', undefined, slow);
    await eventually(() => leads(one));
    const two = await startReplica(t, 'second', undefined, slow);
    await direct.client.mergePatch({ kind: leaseKind, ...lease }, { metadata: { annotations: { note: 'by hand' } } });
    await sleep(1_000);
    assert.ok(leads(one));
    await one.manager.stop();
    const begun = performance.now();
    await eventually(() => leads(two));
    const took = performance.now() - begun;
    assert.ok(took < slow.durationMs / 2, `${Math.round(took)} ms; ${JSON.stringify(one.bed.log.lines.slice(-3))}`);
    assert.deepEqual(one.lost, []);
    assert.equal((await direct.client.get(leaseKind, lease)).metadata.annotations?.['note'], 'by hand');
  });
});
