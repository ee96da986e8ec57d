import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type LiveFile, type LiveFileOptions, openLiveFile } from '../../../runtime/engine/live-file.ts';
import { createMetrics } from '../../../runtime/engine/metrics.ts';
import { captureLog } from './admission-fixtures.ts';

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

/** A directory as the kubelet mounts a ConfigMap: files are links through `..data`, which is swapped as a whole. */
async function mounted() {
  const directory = await mkdtemp(join(tmpdir(), 'live-file-'));
  cleanups.push(() => rm(directory, { recursive: true, force: true }));
  let version = 0;
  const swap = async (text: string | Uint8Array | undefined): Promise<void> => {
    const old = join(directory, `..v${version}`);
    version += 1;
    await mkdir(join(directory, `..v${version}`));
    if (text !== undefined) await writeFile(join(directory, `..v${version}`, 'config.yaml'), text);
    await symlink(`..v${version}`, join(directory, '..data_tmp'));
    await rename(join(directory, '..data_tmp'), join(directory, '..data'));
    await rm(old, { recursive: true, force: true });
  };
  await symlink('..data/config.yaml', join(directory, 'config.yaml'));
  return { directory, path: join(directory, 'config.yaml'), swap };
}

function parse(text: string): { readonly size: number } {
  const value: unknown = JSON.parse(text);
  if (typeof value !== 'object' || value === null || !('size' in value) || typeof value.size !== 'number') {
    throw new Error('size: must be a number');
  }
  return { size: value.size };
}

async function opened(path: string, options: Partial<LiveFileOptions<{ readonly size: number }>> = {}) {
  const metrics = createMetrics({ process: false });
  const { log, lines } = captureLog();
  const file = await openLiveFile({ path, empty: { size: 0 }, parse, log, metrics, debounceMs: 20, ...options });
  cleanups.push(() => Promise.resolve(file.stop()));
  return { file, metrics, lines };
}

async function until(isSo: () => boolean): Promise<void> {
  const end = performance.now() + 5000;
  while (!isSo() && performance.now() < end) await sleep(10);
  assert.ok(isSo());
}

test('a swapped link is followed, listeners are told once each change', async () => {
  const { path, swap } = await mounted();
  await swap('{"size": 1}');
  const { file } = await opened(path);
  const seen: number[] = [];
  const stop = file.subscribe(({ size }) => seen.push(size));
  assert.equal(file.current.size, 1);
  for (const size of [2, 3, 4]) {
    await swap(JSON.stringify({ size }));
    await until(() => file.current.size === size);
  }
  stop();
  await swap('{"size": 5}');
  await until(() => file.current.size === 5);
  assert.deepEqual(seen, [2, 3, 4]);
});

describe('a bad reload keeps the last good value', () => {
  const bad: readonly (readonly [string, string | Uint8Array, RegExp])[] = [
    ['cannot be parsed', '{', /JSON/],
    ['is not valid', '{"size": "big"}', /size: must be a number/],
    ['is empty', '', /JSON/],
    ['is larger than 1 MiB', `{"size": 7, "x": "${'x'.repeat(1024 * 1024)}"}`, /larger than 1048576 bytes/],
    ['is not UTF-8', new Uint8Array([0x22, 0xff, 0xfe, 0x22]), /encoded data was not valid/],
  ];
  for (const [name, text, reason] of bad) {
    test(name, async () => {
      const { path, swap } = await mounted();
      await swap('{"size": 1}');
      const { file, metrics, lines } = await opened(path, { pollMs: 50 });
      await swap(text);
      await until(() => file.fault !== undefined);
      assert.match(file.fault ?? '', reason);
      await sleep(200);
      assert.equal(file.current.size, 1);
      assert.equal(
        lines.filter((line) => line.includes('refused')).length,
        1,
        'said once, however often it is looked at',
      );
      assert.match(await metrics.text(), /rossoctl_config_reload_errors_total\{file="[^"]+config.yaml"\} 1/);
      assert.match(await metrics.text(), /rossoctl_config_last_reload_success\{file="[^"]+config.yaml"\} 0/);
      await swap('{"size": 1}');
      await until(() => file.fault === undefined);
      assert.match(await metrics.text(), /rossoctl_config_last_reload_success\{[^}]+\} 1/);
    });
  }
});

test('no file is the empty value, before and after there is one; a directory may come later', async () => {
  const { path, swap, directory } = await mounted();
  const { file } = await opened(path);
  assert.equal(file.current.size, 0);
  await swap('{"size": 3}');
  await until(() => file.current.size === 3);
  await swap(undefined);
  await until(() => file.current.size === 0);
  const later = await opened(join(directory, 'later', 'config.yaml'), { pollMs: 30 });
  await mkdir(join(directory, 'later'));
  await writeFile(join(directory, 'later', 'config.yaml'), '{"size": 9}');
  await until(() => later.file.current.size === 9);
});

test('a file that is bad from the start is refused, and a directory in its place too', async () => {
  const { path, swap, directory } = await mounted();
  await swap('{');
  await assert.rejects(opened(path), { code: 'LIVE_FILE_INVALID' });
  await assert.rejects(opened(directory), (error: Error & { code?: string }) =>
    /EISDIR|LIVE_FILE/.test(error.code ?? ''),
  );
});

test('a listener that throws keeps nobody else from hearing', async () => {
  const { path, swap } = await mounted();
  await swap('{"size": 1}');
  const { file, lines } = await opened(path);
  let heard = 0;
  file.subscribe(() => {
    throw new Error('deaf');
  });
  file.subscribe(({ size }) => {
    heard = size;
  });
  await swap('{"size": 2}');
  await until(() => heard === 2);
  assert.equal((file as LiveFile<{ size: number }>).fault, undefined);
  assert.match(lines.join(''), /a listener to a configuration file failed/);
});

test('a change that the kernel does not announce is seen by the clock', async () => {
  const { path, swap } = await mounted();
  await swap('{"size": 1}');
  const { file } = await opened(path, { pollMs: 60, debounceMs: 1_000_000 });
  await swap('{"size": 2}');
  await until(() => file.current.size === 2);
});
