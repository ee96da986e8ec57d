/** A crowd at the pod's door: what many callers take, and what becomes of those who only stay. */

import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import http, { type IncomingMessage } from 'node:http';
import http2 from 'node:http2';
import net from 'node:net';
import path from 'node:path';
import { test } from 'node:test';
import { envoyHeapMiB } from '../../runtime/sidecar/memory.ts';
import { type Bed, until, withBed } from './bed.ts';
import { request } from './client.ts';
import type { Crowd, Told } from './crowd.ts';

const heapMiB = envoyHeapMiB(512 * 1024 * 1024);
/** Of Envoy's own program. */
const programMiB = 70;

const address = ({ namespace, agent }: Bed) => ({ host: namespace.ip, port: agent.port });
const url = (bed: Bed) => `http://${bed.namespace.ip}:${bed.agent.port}/`;

function residentMiB(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
}

async function gauge({ admin }: Bed, name: string): Promise<number> {
  return (await admin.stats(`^${name.replaceAll('.', '\\.')}$`)).get(name) ?? 0;
}

async function come(crowd: Crowd): Promise<{ told: Told; leave: () => void }> {
  const child = fork(path.join(import.meta.dirname, 'crowd.ts'));
  child.send(crowd);
  const [told] = (await once(child, 'message')) as [Told];
  return { told, leave: () => child.disconnect() };
}

test('10,000 callers are answered and stay; Envoy keeps to its memory, takes no more, and goes on when they have left', () =>
  withBed({ intent: { accessLog: false, limits: { heapMiB } }, isRecorded: false }, async (bed) => {
    const head = `GET /hello HTTP/1.1\r\nhost: agent\r\nauthorization: Bearer ${'t'.repeat(1_100)}\r\n\r\n`;
    const { told, leave } = await come({ ...address(bed), connections: 10_000, request: head });
    assert.deepEqual(told, { open: 10_000, good: 10_000 });
    assert.equal(await gauge(bed, 'http.inbound.downstream_cx_active'), 10_000);
    const took = residentMiB(bed.envoy.pid);
    assert.ok(took < heapMiB + programMiB, `Envoy takes ${took.toFixed(0)} MiB`);
    const more = net.connect(address(bed));
    more.on('error', () => undefined);
    await once(more, 'close');
    leave();
    await until(async () => (await gauge(bed, 'http.inbound.downstream_cx_active')) === 0);
    assert.equal((await request(url(bed))).status, 200);
  }));

test('a connection that rests is ended, with or without a request before; a stream that is silent stays', () =>
  withBed({ intent: { limits: { restSeconds: 1 } } }, async (bed) => {
    const held = http.get(`${url(bed)}?held=one`, { agent: false });
    const [response] = (await once(held, 'response')) as [IncomingMessage];
    const silent = net.connect(address(bed));
    const answered = net.connect(address(bed));
    answered.write('GET / HTTP/1.1\r\nhost: agent\r\n\r\n');
    answered.resume();
    silent.resume();
    await Promise.all([once(silent, 'close'), once(answered, 'close')]);
    await bed.agent.push('one', 'still here', true);
    let body = '';
    for await (const part of response) body += String(part);
    assert.equal(body, 'still here');
  }));

test('an HTTP/2 caller has a hundred requests at once, and refusals that it does not take are not kept', () =>
  withBed(
    {
      intent: { limits: { restSeconds: 1 } },
      rules: {
        inbound: () => ({ kind: 'refuse', reason: 'test', status: 401, error: 'invalid_token', description: 'no' }),
      },
    },
    async (bed) => {
      const session = http2.connect(url(bed), { settings: { initialWindowSize: 0 } });
      session.on('error', () => undefined);
      await once(session, 'remoteSettings');
      assert.equal(session.remoteSettings.maxConcurrentStreams, 100);
      for (let count = 0; count < 50; count += 1) session.request({ ':path': '/' }).on('error', () => undefined);
      await until(async () => (await gauge(bed, 'http.inbound.downstream_rq_4xx')) === 50);
      await until(async () => (await gauge(bed, 'http.inbound.downstream_rq_active')) === 0);
      session.destroy();
    },
  ));
