// Image archives: the same bytes for the same content, readable by the system's tar.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { after } from 'node:test';
import { type ImageEntry, writeDockerArchive } from '../../scripts/docker-archive.ts';

const dir = mkdtempSync(join(tmpdir(), 'archive-'));
after(() => rmSync(dir, { recursive: true }));

const longName = `deep/${'folder/'.repeat(20)}file-ä.txt`;
const entries: readonly ImageEntry[] = [
  { path: '/usr/bin/run', mode: 0o755, content: 'program' },
  { path: 'bin/sh', link: '../usr/bin/run' },
  { path: 'tmp', mode: 0o1777 },
  { path: 'home/me', mode: 0o700, uid: 1000, gid: 2000 },
  { path: longName, content: 'x'.repeat(513) },
];

function write(name: string, listed: readonly ImageEntry[]): { readonly file: string; readonly id: string } {
  const file = join(dir, name);
  const config = { Entrypoint: ['/usr/bin/run'], User: '1000:2000', Env: ['A=b'], WorkingDir: '/' };
  const id = writeDockerArchive({ file, tag: 'lab.local/test:1', entries: listed, config, architecture: 'amd64' });
  return { file, id };
}

test('the order in which entries are listed changes no byte and no id', () => {
  const [one, two] = [write('one.tar', entries), write('two.tar', entries.toReversed())];
  assert.equal(one.id, two.id);
  assert.deepEqual(readFileSync(one.file), readFileSync(two.file));
});

test('other content makes another id', () => {
  assert.notEqual(write('a.tar', entries).id, write('b.tar', [...entries, { path: 'more', content: '' }]).id);
});

test('the manifest names configuration, tag and layer, and the layer holds what was listed', () => {
  const { file, id } = write('read.tar', entries);
  const extract = (...names: readonly string[]): Buffer => execFileSync('tar', ['-xOf', file, ...names]);
  const [manifest] = JSON.parse(extract('manifest.json').toString()) as [
    { Config: string; RepoTags: string[]; Layers: [string] },
  ];
  assert.equal(`sha256:${manifest.Config.replace('.json', '')}`, id);
  assert.deepEqual(manifest.RepoTags, ['lab.local/test:1']);
  const layer = extract(manifest.Layers[0]);
  const listed = execFileSync('tar', ['-tvf', '-', '--quoting-style=literal'], {
    input: layer,
    encoding: 'utf8',
    env: { ...process.env, TZ: 'UTC', LC_ALL: 'C.UTF-8' },
  });
  assert.match(listed, /^drwxr-xr-x 0\/0 +0 1970-01-01 00:00 bin\/$/m);
  assert.match(listed, /^lrwxrwxrwx 0\/0 +0 1970-01-01 00:00 bin\/sh -> \.\.\/usr\/bin\/run$/m);
  assert.match(listed, /^drwxrwxrwt 0\/0 +0 1970-01-01 00:00 tmp\/$/m);
  assert.match(listed, /^drwx------ 1000\/2000 +0 1970-01-01 00:00 home\/me\/$/m);
  assert.ok(listed.includes(` 513 1970-01-01 00:00 ${longName}\n`));
});
