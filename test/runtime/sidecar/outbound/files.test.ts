/** The agent's OAuth client as files that come late, change as the kubelet changes them, and go. */

import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import test, { type TestContext } from 'node:test';
import { createLog } from '../../../../runtime/engine/log.ts';
import { createOwnAuth, type Credentials, credentialsOf } from '../../../../runtime/sidecar/outbound/credentials.ts';
import { openCredentials } from '../../../../runtime/sidecar/outbound/files.ts';

const log = createLog({ level: 'silent', name: 'test' });

function emptyDir(t: TestContext): string {
  const dir = mkdtempSync(join(tmpdir(), 'rossoctl-credentials-'));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

/** As the kubelet does: a new folder of files, then the link `..data` is swapped by a rename. */
function project(dir: string, version: string, files: Readonly<Record<string, string>>): void {
  const folder = join(dir, `..${version}`);
  mkdirSync(folder);
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  symlinkSync(`..${version}`, join(dir, '..data_tmp'));
  renameSync(join(dir, '..data_tmp'), join(dir, '..data'));
}

async function opened(t: TestContext, directory: string) {
  const live = await openCredentials({ directory, log, debounceMs: 5, pollMs: 50 });
  t.after(() => live.stop());
  const until = async (isWanted: (it: Credentials) => boolean) => {
    for (let i = 0; i < 200 && !isWanted(live.current); i++) await sleep(10);
    assert.ok(isWanted(live.current), JSON.stringify(live.current));
  };
  return { live, until };
}

const held = (id: string, secret: string | undefined): Credentials => ({ kind: 'held', id, secret });

test('they come late, change together, and go', async (t) => {
  const dir = emptyDir(t);
  const directory = join(dir, 'mounted');
  const { live, until } = await opened(t, directory);
  assert.match(live.current.kind === 'missing' ? live.current.why : '', /client-id\.txt is not there yet/);
  const seen: Credentials[] = [];
  live.subscribe((it) => seen.push(it));
  mkdirSync(directory);
  project(directory, '1', { 'client-id.txt': 'agent-a\n', 'client-secret.txt': 'one\n' });
  await until(({ kind }) => kind === 'held');
  assert.deepEqual(live.current, held('agent-a', 'one'));
  for (let i = 2; i < 30; i++)
    project(directory, String(i), { 'client-id.txt': `id-${i}`, 'client-secret.txt': `of-${i}` });
  await until((it) => it.kind === 'held' && it.id === 'id-29');
  for (const it of seen) {
    if (it.kind === 'held') assert.equal(it.secret, it.id === 'agent-a' ? 'one' : it.id.replace('id', 'of'));
  }
  project(directory, 'gone', {});
  await until(({ kind }) => kind === 'missing');
});

test('what the two files mean', () => {
  const of = (id?: string, secret?: string) => credentialsOf({ id, secret }, '/dir');
  assert.deepEqual(of('a', 'b'), held('a', 'b'));
  assert.deepEqual(of('a\r\n', undefined), held('a', undefined));
  assert.deepEqual(of('a', '\n'), held('a', undefined));
  for (const [wrong, expected] of [
    [of(), /\/dir\/client-id\.txt is not there yet/],
    [of('\n', 'b'), /client-id\.txt is empty/],
    [of('a\nb', 'c'), /client-id\.txt holds control characters/],
    [of('a', 'b\u0000c'), /client-secret\.txt holds control characters/],
    [of('a', 'x'.repeat(5_000)), /client-secret\.txt is longer/],
  ] as const) {
    assert.match(wrong.kind === 'missing' ? wrong.why : 'held', expected);
  }
});

test('who asks for tokens, by each method', async () => {
  let credentials: Credentials = { kind: 'missing', why: 'not yet' };
  const asked: string[] = [];
  const base = {
    credentials: () => credentials,
    issuer: 'https://idp',
    assertion: async (audience: string) => (asked.push(audience), { token: 'a.b.c' }),
  };
  const bySecret = createOwnAuth({ ...base, method: 'client_secret_basic' });
  assert.deepEqual(await bySecret(), { missing: 'not yet' });
  credentials = held('a', undefined);
  assert.match(JSON.stringify(await bySecret()), /client-secret\.txt/);
  credentials = held('a', 's');
  assert.deepEqual(await bySecret(), { method: 'client_secret_basic', id: 'a', secret: 's' });
  assert.deepEqual(asked, []);
  const bySvid = createOwnAuth({ ...base, method: 'jwt-spiffe' });
  assert.deepEqual(await bySvid(), { method: 'jwt-spiffe', assertion: 'a.b.c' });
  assert.deepEqual(asked, ['https://idp']);
  const without = createOwnAuth({
    ...base,
    method: 'jwt-spiffe',
    assertion: async () => ({ unavailable: 'no entry' }),
  });
  assert.deepEqual(await without(), { missing: 'no entry' });
});
