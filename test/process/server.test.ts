import { once } from 'node:events';
import assert from 'node:assert/strict';
import https from 'node:https';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import tls from 'node:tls';
import type { AdmissionReview } from '../../runtime/engine/admission-review.ts';
import { type Review, allow, inject, pod, reviewOf, testAuthority } from '../runtime/engine/admission-fixtures.ts';
import { call } from '../runtime/engine/https-call.ts';
import { start } from './running.ts';

test('a review is answered over TLS, whatever the content type says', async () => {
  const running = await start({ review: inject });
  for (const type of ['application/json', 'application/json; charset=utf-8', 'text/plain', 'nonsense', undefined]) {
    const { status, body } = await call({
      running,
      headers: type === undefined ? undefined : { 'content-type': type },
    });
    assert.equal(status, 200, String(type));
    const { response } = JSON.parse(body) as AdmissionReview;
    assert.equal(response.uid, '705ab4f5-6393-11e8-b7cc-42010a800002');
    assert.equal(response.patchType, 'JSONPatch');
  }
});

test('other paths and methods, and bodies that are nothing, get a sentence', async () => {
  const running = await start();
  for (const [method, path, status] of [
    ['GET', '/mutate', 404],
    ['POST', '/', 404],
    ['POST', '/mutate/../..%2f', 404],
    ['POST', '/mutate', 400],
  ] as const) {
    const answer = await call({ running, method, path, body: '' });
    assert.equal(answer.status, status, `${method} ${path}`);
    assert.match(answer.body, /^[^\n{]+\n$/);
    assert.doesNotMatch(answer.body, /at .*\.(ts|js)/);
  }
});

describe('the 6 MiB limit', () => {
  const sized = (bytes: number): string => {
    const body = JSON.stringify(reviewOf({ object: { ...pod, padding: '' } }));
    return body.replace('"padding":""', `"padding":"${'x'.repeat(bytes - body.length)}"`);
  };
  test('just under it is judged', async () => {
    const running = await start({ review: inject });
    assert.equal((await call({ running, body: sized(6 * 1024 * 1024) })).status, 200);
  });
  test('just over it is refused with a sentence, and the server lives', async () => {
    const running = await start();
    const answer = await call({ running, body: sized(6 * 1024 * 1024 + 1) });
    assert.equal(answer.status, 413);
    assert.equal(answer.body, 'the body is larger than 6291456 bytes\n');
    assert.equal((await call({ running })).status, 200);
  });
});

test('a body of one byte a chunk is refused long before it is whole', async () => {
  const running = await start();
  const socket = tls.connect({ port: running.server.port, host: '127.0.0.1', ca: running.authority.certificate });
  socket.on('error', () => {});
  let answer = '';
  socket.setEncoding('utf8').on('data', (text: string) => (answer += text));
  socket.write('POST /mutate HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\n');
  const chunks = '1\r\n \r\n'.repeat(1_000);
  let sent = 0;
  const closed = new Promise<void>((resolve) => socket.on('close', () => resolve()));
  for (; !socket.destroyed && sent < 1_000_000; sent += 1_000) {
    if (!socket.write(chunks)) await Promise.race([once(socket, 'drain').catch(() => undefined), closed]);
  }
  await closed;
  assert.match(answer, /^HTTP\/1\.1 413 .*the body comes in more than 16384 pieces\n/s);
  assert.ok(sent < 1_000_000, `${sent} pieces were taken`);
  assert.equal((await call({ running })).status, 200);
});

test('large bodies under way are bounded together; an ordinary review still passes', async () => {
  const running = await start({ bodyBudget: 1_500_000 });
  const options = { port: running.server.port, host: '127.0.0.1', ca: running.authority.certificate };
  const hoarder = tls.connect(options);
  hoarder.on('error', () => {});
  hoarder.write('POST /mutate HTTP/1.1\r\nhost: localhost\r\ncontent-length: 1000000\r\n\r\n{');
  await sleep(100);
  const large = JSON.stringify(reviewOf({ object: { ...pod, padding: 'x'.repeat(1_000_000) } }));
  assert.equal((await call({ running, body: large })).status, 429);
  assert.equal((await call({ running })).status, 200);
  hoarder.destroy();
  await sleep(100);
  assert.equal((await call({ running, body: large })).status, 200);
});

test('a client that sends too slowly is cut off, and holds nobody up', async () => {
  const running = await start({ requestTimeoutMs: 300 });
  const socket = tls.connect({ port: running.server.port, host: '127.0.0.1', ca: running.authority.certificate });
  const closed = new Promise<void>((resolve) => socket.on('close', () => resolve()));
  socket.on('error', () => {});
  socket.write('POST /mutate HTTP/1.1\r\nhost: localhost\r\ncontent-length: 1000\r\n\r\n{');
  const drip = setInterval(() => socket.write(' '), 50);
  assert.equal((await call({ running })).status, 200);
  const cut = await Promise.race([closed.then(() => true), sleep(40_000, false, { ref: false })]);
  clearInterval(drip);
  assert.equal(cut, true);
});

test('a review that does not end is answered by the deadline of the API server', async () => {
  const running = await start({ review: () => new Promise(() => {}) });
  const begun = performance.now();
  const { status, body } = await call({ running, path: '/mutate?timeout=500ms' });
  assert.equal(status, 500);
  assert.equal(body, 'the review did not end within 250 ms\n');
  assert.ok(performance.now() - begun < 2000);
});

test('TLS 1.1 is refused, 1.2 and 1.3 are spoken', async () => {
  const running = await start();
  const connect = (version: tls.SecureVersion): Promise<string> =>
    new Promise((resolve) => {
      const options = { port: running.server.port, host: '127.0.0.1', ca: running.authority.certificate };
      const socket = tls.connect({
        ...options,
        minVersion: version,
        maxVersion: version,
        ciphers: 'DEFAULT:@SECLEVEL=0',
      });
      socket.on('secureConnect', () => {
        resolve(socket.getProtocol() ?? '');
        socket.destroy();
      });
      socket.on('error', () => resolve('refused'));
    });
  assert.deepEqual(await Promise.all((['TLSv1.1', 'TLSv1.2', 'TLSv1.3'] as const).map(connect)), [
    'refused',
    'TLSv1.2',
    'TLSv1.3',
  ]);
});

test('a certificate is replaced under load: 200 requests at a time, none fails, new connections see the new one', async () => {
  const slow: Review = async (request) => {
    await sleep(20);
    return allow(request);
  };
  const running = await start({ review: slow });
  const other = await testAuthority('the next authority');
  const ca = running.authority.certificate + other.authority.certificate;
  const agent = new https.Agent({ keepAlive: true, maxSockets: 100 });
  const seen = new Set<string>();
  let failed = 0;
  let done = 0;
  const end = new AbortController();
  const worker = async (keepAlive: boolean): Promise<void> => {
    while (!end.signal.aborted) {
      const answer = await call({ running, ca, ...(keepAlive ? { agent } : {}) }).catch(() => undefined);
      done += 1;
      if (answer?.status === 200) seen.add(answer.fingerprint);
      else failed += 1;
    }
  };
  const workers = Array.from({ length: 200 }, (_, i) => worker(i % 4 !== 0));
  /** As many answers as there are workers have come since. */
  const isShortOf = (count: number): boolean => done < count;
  const answered = async (): Promise<void> => {
    const enough = done + 200;
    while (isShortOf(enough)) await sleep(10);
  };
  for (let i = 0; i < 4; i += 1) {
    await answered();
    running.certificate.set(i % 2 === 0 ? await other.leaf() : await running.leaf());
  }
  await answered();
  end.abort();
  await Promise.all(workers);
  agent.destroy();
  assert.equal(failed, 0, `${failed} of ${done} failed`);
  assert.equal(seen.size, 5);
});

test('a certificate that cannot be served leaves the previous one', async () => {
  const running = await start();
  running.certificate.set({ certificate: 'nonsense', key: 'nonsense' });
  assert.equal((await call({ running })).status, 200);
  assert.match(running.lines.join(''), /serving certificate refused/);
});
