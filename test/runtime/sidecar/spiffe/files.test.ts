import assert from 'node:assert/strict';
import {
  chmodSync,
  existsSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { readFile, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { clearSvidFiles, endOfSvidFiles, writeSvidFiles } from '../../../../runtime/sidecar/spiffe/files.ts';
import { intermediate, leafOf } from './answers.ts';
import { folderIn } from './scripted-agent.ts';

const all = { chain: 'C', key: 'K', bundle: 'B', token: 'T' };
const shown = (directory: string) => readdirSync(directory).filter((name) => !name.startsWith('..'));
const versions = (directory: string) => readdirSync(directory).filter((name) => name.startsWith('..svid-'));
const text = (directory: string, name: string) => readFileSync(join(directory, name), 'utf8');
const modeOf = (directory: string, name: string) => (statSync(join(directory, name)).mode & 0o7777).toString(8);

test('a set has the names users know, each a link into one version', async (t) => {
  const directory = folderIn(t);
  await writeSvidFiles(`${directory}/`, all);
  assert.deepEqual(shown(directory).sort(), ['jwt_svid.token', 'svid.pem', 'svid_bundle.pem', 'svid_key.pem']);
  assert.deepEqual(
    ['svid.pem', 'svid_key.pem', 'svid_bundle.pem', 'jwt_svid.token'].map((name) => text(directory, name)),
    ['C', 'K', 'B', 'T'],
  );
  assert.equal(readlinkSync(join(directory, 'svid.pem')), '..data/svid.pem');
  assert.deepEqual(versions(directory), [readlinkSync(join(directory, '..data'))]);
});

test('the next set replaces it as a whole; the one before stays for who reads it, the one before that goes', async (t) => {
  const directory = folderIn(t);
  await writeSvidFiles(directory, all);
  const first = readlinkSync(join(directory, '..data'));
  await writeSvidFiles(directory, { chain: 'C2', key: 'K2', bundle: 'B2' });
  const second = readlinkSync(join(directory, '..data'));
  assert.equal(text(directory, 'svid_key.pem'), 'K2');
  assert.deepEqual(shown(directory).sort(), ['svid.pem', 'svid_bundle.pem', 'svid_key.pem']);
  assert.equal(text(directory, `${first}/svid_key.pem`), 'K');
  await writeSvidFiles(directory, { ...all, chain: 'C3' });
  assert.deepEqual(versions(directory).sort(), [second, readlinkSync(join(directory, '..data'))].sort());
  assert.equal(text(directory, 'jwt_svid.token'), 'T');
});

test('a reader that resolves ..data once never sees files of two sets, however often they change', async (t) => {
  const directory = folderIn(t);
  await writeSvidFiles(directory, { ...all, chain: '0', key: '0' });
  const over = new AbortController();
  const pairs = new Set<string>();
  const reader = (async () => {
    while (!over.signal.aborted) {
      const version = await realpath(join(directory, '..data'));
      const chain = await readFile(join(version, 'svid.pem'), 'utf8');
      pairs.add(`${chain} ${await readFile(join(version, 'svid_key.pem'), 'utf8')}`);
    }
  })();
  for (let i = 1; i <= 50; i += 1) {
    await writeSvidFiles(directory, { ...all, chain: `${i}`, key: `${i}` });
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  over.abort();
  await reader;
  assert.ok(pairs.size > 10);
  assert.deepEqual(
    [...pairs].filter((pair) => new Set(pair.split(' ')).size > 1),
    [],
  );
});

test('modes: for anybody who mounts the folder, and for its group alone where it has one to pass on (spiffe-helper#183)', async (t) => {
  const plain = folderIn(t);
  await writeSvidFiles(plain, all);
  const modes = (directory: string) =>
    ['svid.pem', 'svid_bundle.pem', 'svid_key.pem', 'jwt_svid.token', '..data/'].map((name) => modeOf(directory, name));
  assert.deepEqual(modes(plain), ['644', '644', '644', '644', '755']);
  const shared = folderIn(t);
  // As the kubelet makes an emptyDir of a pod with fsGroup.
  chmodSync(shared, 0o2777);
  await writeSvidFiles(shared, all);
  assert.deepEqual(modes(shared).slice(0, 4), ['644', '644', '640', '640']);
  assert.equal(statSync(join(shared, 'svid_key.pem')).gid, statSync(shared).gid);
});

test('cleared, nothing is left, and there may have been nothing', async (t) => {
  const directory = folderIn(t);
  await clearSvidFiles(directory);
  writeFileSync(join(directory, 'of the application'), '');
  await writeSvidFiles(directory, all);
  await clearSvidFiles(directory);
  assert.deepEqual(readdirSync(directory), ['of the application']);
});

test('what an interrupted run left, and files in the place of links, are no obstacle', async (t) => {
  const directory = folderIn(t);
  await writeSvidFiles(directory, all);
  rmSync(join(directory, 'svid.pem'));
  writeFileSync(join(directory, 'svid.pem'), 'a file');
  writeFileSync(join(directory, '..svid-link'), 'half made');
  writeFileSync(join(directory, '..svid-lost'), 'half made');
  await writeSvidFiles(directory, { ...all, chain: 'C2' });
  assert.equal(text(directory, 'svid.pem'), 'C2');
  assert.equal(existsSync(join(directory, '..svid-lost')), false);
});

test('the end of what is there is the first of its chain', async (t) => {
  const directory = folderIn(t);
  assert.equal(await endOfSvidFiles(directory), undefined);
  const leaf = leafOf({ notAfter: '2030-01-01T00:00:00Z' });
  await writeSvidFiles(directory, { ...all, chain: leaf.pem + intermediate.pem });
  assert.equal(await endOfSvidFiles(directory), Date.parse('2030-01-01T00:00:00Z'));
  await writeSvidFiles(directory, all);
  assert.equal(await endOfSvidFiles(directory), 0);
});

test('a folder that is not there is an error that names it', async (t) => {
  const directory = join(folderIn(t), 'absent');
  await assert.rejects(writeSvidFiles(directory, all), /absent/);
});
