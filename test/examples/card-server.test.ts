/** The example agent serves its card as the file is now, byte for byte, and says when it has none. */

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test, { type TestContext } from 'node:test';
import { cardServer } from '../../examples/demo/card-server.ts';
import { eventually } from '../support/engine-bed.ts';

const cardPath = '/.well-known/agent-card.json';

async function served(t: TestContext) {
  const dir = mkdtempSync(path.join(tmpdir(), 'card-server-'));
  const file = path.join(dir, 'card.json');
  const server = cardServer(file).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.close().closeAllConnections();
    rmSync(dir, { recursive: true });
  });
  const { port } = server.address() as AddressInfo;
  return { dir, file, get: (at = cardPath, init?: RequestInit) => fetch(`http://127.0.0.1:${port}${at}`, init) };
}

test('the card is served byte for byte', async (t) => {
  const { file, get } = await served(t);
  const text = '{"name":"Wetter \u{1F326}", "version" : 1.0,\n "signatures":[]}\n';
  writeFileSync(file, text);
  const answer = await get();
  assert.equal(answer.status, 200);
  assert.equal(answer.headers.get('content-type'), 'application/json');
  assert.equal(await answer.text(), text);
  assert.equal(
    (await get(cardPath, { method: 'HEAD' })).headers.get('content-length'),
    String(Buffer.byteLength(text)),
  );
});

test('a changed card is served at once, also when a link is swapped as a ConfigMap volume does', async (t) => {
  const { dir, file, get } = await served(t);
  for (const version of ['one', 'two']) writeFileSync(path.join(dir, version), JSON.stringify({ version }));
  symlinkSync('one', file);
  const first = await get();
  assert.deepEqual(await first.json(), { version: 'one' });
  symlinkSync('two', `${file}.new`);
  renameSync(`${file}.new`, file);
  const second = await get(cardPath, { headers: { 'if-none-match': first.headers.get('etag') ?? '' } });
  assert.deepEqual(await second.json(), { version: 'two' });
  const again = await get(cardPath, { headers: { 'if-none-match': second.headers.get('etag') ?? '' } });
  assert.equal(again.status, 304);
});

const absent: readonly (readonly [string, string | undefined])[] = [
  ['there is no file', undefined],
  ['the file is empty', ''],
  ['the file is half written', '{"name":'],
  ['the file is a list', '[]'],
  ['the file is null', 'null'],
  ['the file is too large', `{"name":"${'x'.repeat(1024 * 1024)}"}`],
];

for (const [what, text] of absent) {
  test(`503 when ${what}`, async (t) => {
    const { file, get } = await served(t);
    if (text !== undefined) writeFileSync(file, text);
    assert.equal((await get()).status, 503);
    writeFileSync(file, '{}');
    assert.equal((await get()).status, 200);
  });
}

test('nothing else is served, and nothing is written', async (t) => {
  const { file, get } = await served(t);
  writeFileSync(file, '{}');
  assert.equal((await get('/')).status, 404);
  assert.equal((await get('/.well-known/../card.json')).status, 404);
  assert.equal((await get(`${cardPath}?x=1`)).status, 200);
  assert.equal((await get(cardPath, { method: 'POST', body: '{}' })).status, 405);
});

test('it runs by itself, copied beside its card, and ends when it is asked to', async (t) => {
  const { dir, file } = await served(t);
  writeFileSync(file, '{}');
  const program = path.join(dir, 'server.mts');
  copyFileSync(path.join(import.meta.dirname, '../../examples/demo/card-server.ts'), program);
  const port = await freePort();
  const child = spawn(process.execPath, [program], {
    env: { PORT: String(port), CARD: file },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text));
  const ended = once(child, 'exit');
  await eventually(async () => {
    assert.equal(child.exitCode, null, errors);
    assert.equal((await fetch(`http://127.0.0.1:${port}${cardPath}`)).status, 200);
  });
  child.kill('SIGTERM');
  assert.deepEqual(await ended, [0, null]);
  assert.equal(errors, '');
});

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
