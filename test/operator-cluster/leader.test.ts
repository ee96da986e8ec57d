/** LE-01 and LE-02 for the whole process: one writes, whatever happens to it, and what it leaves undone the next one does. */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { kinds } from '../../runtime/api/kinds.ts';
import type { AgentRuntime } from '../../runtime/api/agent-runtime.ts';
import type { KubeObject } from '../../runtime/engine/types.ts';
import { isWrite } from '../support/audit-log.ts';
import { eventually } from '../support/engine-bed.ts';
import type { FaultProxy } from '../support/fault-proxy.ts';
import { untilSays } from '../support/enrolments.ts';
import { type OperatorBed, startOperatorBed, untilIdle, untilLeading, untilReady } from '../support/operator-bed.ts';
import { applyAll, kindOf } from '../support/operator-platform.ts';
import type { OperatorProcess } from '../support/operator-process.ts';
import { createNamespace, runtimeFor, workload } from '../support/workload-objects.ts';

describe('one operator process writes', { timeout: 600_000 }, () => {
  let bed: OperatorBed;
  let leader: OperatorProcess;
  /** The third's way to the API server. */
  let way: FaultProxy;
  const namespace = 'led';
  let enrolments = 0;
  before(async () => {
    bed = await startOperatorBed('leader');
    await createNamespace(bed.client, namespace);
  });
  after(() => bed.stop());

  /** Three more workloads with their AgentRuntimes, whoever serves the webhooks at the moment. */
  async function enrolThree(): Promise<readonly AgentRuntime[]> {
    const objects = Array.from({ length: 3 }, () => workload('Deployment', namespace, `w${++enrolments}`));
    for (const object of objects) await bed.client.create(kindOf(object), object);
    const runtimes = objects.map((object) => runtimeFor(object));
    await applyAll(bed.client, runtimes);
    return runtimes;
  }

  async function allActive(runtimes: readonly AgentRuntime[]): Promise<void> {
    for (const runtime of runtimes) await untilSays(bed.client, runtime, 'Active/Configured');
  }

  /** The writers of workloads, statuses and events, each once, in the order of the API server's clock; an overlap names one twice. */
  function writers(): readonly string[] {
    const writes = bed.audit
      .requests()
      .filter((request) => isWrite(request) && request.objectRef?.namespace === namespace)
      .sort((a, b) => (a.requestReceivedTimestamp < b.requestReceivedTimestamp ? -1 : 1))
      .map(({ userAgent = '' }) => userAgent.replace('rossoctl-operator/', ''));
    return writes.filter((agent, at) => agent !== writes[at - 1]);
  }

  test('LE-01 without rights on Leases nobody is ready, readiness says why, and it starts when they are given', async () => {
    const own = bed.objects.find(({ kind, metadata }) => kind === 'Role' && metadata.name?.includes('own'));
    assert.ok(own !== undefined);
    const rules = (own['rules'] as readonly { readonly resources: readonly string[] }[]).filter(
      ({ resources }) => !resources.includes('leases'),
    );
    await bed.client.replace(kindOf(own), { ...own, rules } as KubeObject);
    const proxy = await bed.httpProxy();
    leader = await bed.start('first', { port: proxy.port });
    await eventually(async () => {
      const lease = (await leader.readiness())?.checks.find(({ name }) => name === 'lease');
      assert.match(lease?.reason ?? '', /leases.* 403 .*cannot get resource "leases"/);
    });
    assert.equal((await leader.readiness())?.ok, false);
    assert.equal(await leader.metric('leader_election_master_status{name="rossoctl-operator"}'), 0);
    assert.ok(leader.lines.some(({ level, msg }) => level === 'warn' && msg === 'lease cannot be created or renewed'));

    await applyAll(bed.client, [own]);
    await untilReady(leader);
    await untilLeading(leader);
    await eventually(() => bed.service.ready.includes('first'));
    await allActive(await enrolThree());
    const isWritten = ({ method, url }: { readonly method: string; readonly url: string }): boolean =>
      url.includes('/leases') && method !== 'GET';
    await eventually(() => proxy.requests.filter(isWritten).length >= 3);
    for (const { body } of proxy.requests.filter(isWritten)) {
      const times = body.match(/"(?:acquire|renew)Time":"[^"]*"/g) ?? [];
      assert.ok(times.length === 2 && times.every((time) => /T\d\d:\d\d:\d\d\.\d{6}Z"$/.test(time)), body);
    }
  });

  test('LE-02 the leader is killed: the other takes over, nothing is lost, no write of one falls among those of the other', async () => {
    const first = leader;
    leader = await bed.startReady('second');
    const before = await enrolThree();
    await first.kill();
    const after = await enrolThree();
    await untilLeading(leader);
    await allActive([...before, ...after]);
    assert.deepEqual(writers(), ['first', 'second']);
  });

  test('LE-02 the leader stands still for longer than the lease: when it wakes it writes nothing and ends', async () => {
    const still = leader;
    way = await bed.faultProxy();
    leader = await bed.startReady('third', { port: way.port });
    const before = await enrolThree();
    // What it has checked and not yet sent when it is stopped goes out when it wakes: nobody can take that back, so it is idle here.
    await allActive(before);
    await untilIdle(still);
    still.signal('SIGSTOP');
    await eventually(() => !bed.service.ready.includes(still.name));
    const after = await enrolThree();
    await untilLeading(leader);
    await allActive(after);
    still.signal('SIGCONT');
    assert.equal((await still.exit).code, 1);
    assert.ok(still.lines.some(({ msg }) => msg === 'lease lost'));
    assert.deepEqual(writers(), ['first', 'second', 'third']);
  });

  test('LE-02 the leader loses its network: it ends before the lease does, and the next one has all of the work', async () => {
    const cut = leader;
    leader = await bed.startReady('fourth');
    const last = await enrolThree();
    way.set({ mode: 'black-hole' });
    const begun = performance.now();
    assert.equal((await cut.exit).code, 1);
    const endedMs = performance.now() - begun;
    const during = await enrolThree();
    await untilLeading(leader);
    assert.ok(
      endedMs < 12_500 && performance.now() - begun > endedMs,
      `it ended after ${endedMs} ms, before the lease did`,
    );
    await allActive([...last, ...during]);
    way.set({ mode: 'pass' });
    assert.deepEqual(writers(), ['first', 'second', 'third', 'fourth']);
    assert.equal((await bed.client.list(kinds.agentRuntime)).items.length, enrolments);
  });
});
