/** A sidecar of which a part fails: nothing passes undecided, callers are answered in bounded time, and the reason is told. */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { chownSync, mkdtempSync, rmSync } from 'node:fs';
import http, { type IncomingMessage } from 'node:http';
import net from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { snapshot, type Snapshot } from '../../runtime/sidecar/envoy/snapshot.ts';
import { systemClock } from '../../runtime/engine/clock.ts';
import { createLog } from '../../runtime/engine/log.ts';
import { adminClient } from '../../runtime/sidecar/envoy/admin/client.ts';
import { startEnvoy } from '../../runtime/sidecar/envoy/process.ts';
import { serveDiscovery } from '../../runtime/sidecar/envoy/server.ts';
import { serveProcessor } from '../../runtime/sidecar/ext-proc/server.ts';
import { socketsIn, typeUrl, types } from '../../runtime/sidecar/envoy/names.ts';
import { packed } from '../../runtime/sidecar/wire/registry.ts';
import { type Bed, pass, proxyUid, startBed, until, withBed } from './bed.ts';
import { request } from './client.ts';

const parts = ({ metrics }: Bed) => ({ metrics, log: createLog({ level: 'silent', name: 'again' }) });

const application = ({ namespace, agent }: Bed) => `http://${namespace.ip}:${agent.port}/`;

test('a rule that does not come to a decision: our own 503 at its deadline, and its signal ends', () => {
  let isTold = false;
  const stuck = (_head: unknown, signal: AbortSignal) => {
    signal.addEventListener('abort', () => {
      isTold = true;
    });
    return new Promise<never>(() => undefined);
  };
  return withBed({ rules: { inbound: stuck }, deadlineMs: 300 }, async (bed) => {
    const answer = await request(application(bed));
    assert.equal(answer.status, 503);
    assert.equal(answer.headers['retry-after'], '1');
    assert.equal((JSON.parse(answer.body) as { error: string }).error, 'temporarily_unavailable');
    assert.ok(isTold);
  });
});

test('a rule that throws: 500, the reason in our log and not in the answer', () =>
  withBed(
    {
      rules: {
        inbound: () => {
          throw new Error('a mistake of ours');
        },
      },
    },
    async (bed) => {
      const answer = await request(application(bed));
      assert.equal(answer.status, 500);
      assert.doesNotMatch(answer.body, /mistake/);
      assert.match(bed.log.join(''), /a mistake of ours/);
    },
  ));

test('a processor that says nothing: Envoy refuses when its own time is over', () => {
  const never = () => new Promise<never>(() => undefined);
  const intent = { limits: { processorSeconds: 1 } };
  return withBed({ rules: { inbound: never }, intent }, async (bed) => {
    const begun = performance.now();
    const answer = await request(application(bed));
    assert.ok([503, 504].includes(answer.status), `${answer.status}`);
    assert.ok(performance.now() - begun < 3_000);
  });
});

test('a processor that is gone: every request is refused in both directions, until it is back', () =>
  withBed({}, async (bed) => {
    bed.processor.close();
    const answer = await request(application(bed));
    assert.equal(answer.status, 503);
    const said = await bed.agent.call({ url: `http://${bed.namespace.gateway}:9/` });
    assert.equal(said.status, 503);
    const rules = { inbound: () => pass, outbound: () => pass };
    const back = await serveProcessor({ ...parts(bed), socket: bed.sockets.processor, clock: systemClock, rules });
    chownSync(bed.sockets.processor, proxyUid, proxyUid);
    await until(async () => (await request(application(bed))).status === 200);
    back.close();
  }));

test('a discovery server that comes again: Envoy serves on meanwhile, and takes what is new', () =>
  withBed({}, async (bed) => {
    bed.discovery.close();
    assert.equal((await request(application(bed))).status, 200);
    const next = snapshot({ ...bed.intent, limits: { headersCount: 150 } }, undefined);
    const again = await serveDiscovery({ ...parts(bed), socket: bed.sockets.discovery, snapshot: next });
    chownSync(bed.sockets.discovery, proxyUid, proxyUid);
    await until(() => again.isSettled);
    assert.equal((await request(application(bed))).status, 200);
    again.close();
  }));

test('a caller that goes away: the rule is told, nothing is logged as an error', async () => {
  const asked = Promise.withResolvers<AbortSignal>();
  const rule = (_head: unknown, signal: AbortSignal) => {
    asked.resolve(signal);
    return new Promise<never>((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(new Error('gone')));
    });
  };
  await withBed({ rules: { inbound: rule } }, async (bed) => {
    const sent = http.get(application(bed), { agent: false });
    sent.on('error', () => undefined);
    const signal = await asked.promise;
    sent.destroy();
    await until(() => signal.aborted);
    await until(async () => /decision="gone",reason="caller_gone",mtls="false"\} 1/.test(await bed.metrics.text()));
    assert.doesNotMatch(bed.log.join(''), /"level":"error"/);
  });
});

test('a configuration that Envoy refuses is told in its words, the last good one serves on, and a good one ends it', () =>
  withBed({}, async (bed) => {
    const good = snapshot(bed.intent, undefined);
    bed.discovery.publish(broken(good));
    await until(() => bed.discovery.refusals.length > 0);
    assert.match(bed.discovery.refusals.join(), /^Listener refused by Envoy: .*no filter chains/i);
    assert.equal(bed.discovery.isSettled, false);
    assert.equal((await request(application(bed))).status, 200);
    assert.match(await bed.metrics.text(), /discovery_responses_total\{type="Listener",result="refused"\} 1/);
    bed.discovery.publish(good);
    await until(() => bed.discovery.refusals.length === 0 && bed.discovery.isSettled);
    assert.equal((await request(application(bed))).status, 200);
  }));

function broken(good: Snapshot): Snapshot {
  const listener = { name: 'inbound', address: { socketAddress: { address: '0.0.0.0', portValue: 15124 } } };
  return new Map([...good, [typeUrl(types.listener), [{ name: 'inbound', any: packed(types.listener, listener) }]]]);
}

test('more connections than may be open: further ones are closed, and who looks after Envoy still gets in', () =>
  withBed({ intent: { limits: { connections: 20 } } }, async (bed) => {
    const open = await Promise.all(Array.from({ length: 20 }, () => connected(bed)));
    const name = 'listener.inbound.downstream_cx_active';
    await until(async () => (await bed.admin.stats(`^${name}$`)).get(name) === 20);
    const refused = await connected(bed);
    refused.on('error', () => undefined);
    await once(refused, 'close');
    assert.equal((await bed.admin.get('/ready')).status, 200);
    for (const socket of open) socket.destroy();
    await until(async () => (await bed.admin.stats(`^${name}$`)).get(name) === 0);
    assert.equal((await request(application(bed))).status, 200);
  }));

test('memory that runs short: new connections wait, Envoy lives, and it goes on when there is memory again', () =>
  withBed({ intent: { limits: { heapMiB: 24 } } }, async (bed) => {
    const open: net.Socket[] = [];
    const isPressed = async () => ((await bed.admin.stats(pressure)).get(pressure) ?? 0) >= 90;
    while (!(await isPressed()) && open.length < 5_000) {
      const more = await Promise.all(Array.from({ length: 50 }, () => connected(bed)));
      for (const socket of more) socket.write('GET / HTTP/1.1\r\nhost: a\r\n\r\n');
      open.push(...more);
    }
    assert.ok(open.length < 5_000, `${open.length}`);
    for (const socket of open) socket.destroy();
    await until(async () => !(await isPressed()));
    assert.equal((await request(application(bed))).status, 200);
  }));

const pressure = 'overload.envoy.resource_monitors.fixed_heap.pressure';

async function connected({ namespace, agent }: Bed): Promise<net.Socket> {
  const socket = net.connect({ host: namespace.ip, port: agent.port });
  await once(socket, 'connect');
  return socket;
}

test('an Envoy that is killed: its end is told with the reason, and readiness with it', () =>
  withBed({}, async (bed) => {
    assert.equal(bed.envoy.fault, undefined);
    process.kill(bed.envoy.pid, 'SIGKILL');
    assert.equal(await bed.envoy.ended, 'Envoy was ended by SIGKILL');
    await until(() => bed.envoy.fault === 'Envoy has ended');
  }));

test('a configuration that Envoy refuses from the start: told as well, and not ready', async () => {
  const bed = await startBed({ intent: { ports: { inbound: 15124, outbound: 15124 } }, isAwaited: false });
  try {
    await until(() => bed.discovery.refusals.length > 0);
    assert.match(bed.discovery.refusals.join(), /address.*15124|duplicate/i);
    assert.notEqual(bed.envoy.fault, undefined);
  } finally {
    await bed.stop();
  }
});

test('an Envoy that cannot be run: the reason is told', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'rossoctl-none-'));
  try {
    const { admin: socket } = socketsIn(folder);
    const log = createLog({ level: 'silent', name: 'none' });
    const admin = adminClient(socket);
    const envoy = startEnvoy({
      binary: path.join(folder, 'envoy'),
      bootstrap: {},
      folder,
      admin,
      clock: systemClock,
      log,
    });
    assert.match(await envoy.ended, /^Envoy could not be started: .*ENOENT/);
    await envoy.kill();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test('draining: what is under way finishes, new calls are taken for a while with word to close, then Envoy ends by itself', () =>
  withBed({}, async (bed) => {
    const held = http.get(`${application(bed)}?held=one`, { agent: false });
    const [response] = (await once(held, 'response')) as [IncomingMessage];
    let isOver = false;
    const draining = bed.envoy.drain({ budgetMs: 20_000 });
    void bed.envoy.ended.finally(() => {
      isOver = true;
    });
    await sleep(500);
    const during = await request(application(bed), { agent: new http.Agent({ keepAlive: true }) });
    assert.equal(during.status, 200);
    assert.equal(during.headers.connection, 'close');
    await sleep(6_000);
    assert.equal(isOver, false);
    await bed.agent.push('one', 'the last word', true);
    let body = '';
    for await (const part of response) body += String(part);
    assert.equal(body, 'the last word');
    await draining;
    assert.match(await bed.envoy.ended, /exit code 0/);
  }));

test('draining with a budget: a stream that never ends does not hold the pod', () =>
  withBed({}, async (bed) => {
    const held = http.get(`${application(bed)}?held=two`, { agent: false });
    held.on('error', () => undefined);
    const [response] = (await once(held, 'response')) as [IncomingMessage];
    response.on('error', () => undefined);
    const begun = performance.now();
    await bed.envoy.drain({ budgetMs: 1_000 });
    assert.ok(performance.now() - begun < 4_000);
  }));
