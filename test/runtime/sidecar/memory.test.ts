import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { quantity } from '../../../runtime/config/quantity.ts';
import { compiledDefaults } from '../../../runtime/config/platform.ts';
import { envoyHeapMiB, processorPart } from '../../../runtime/sidecar/memory.ts';

const MiB = 1024 * 1024;

test('what the processor and the programs do not take is for Envoy', () => {
  const rows = [
    [512 * MiB, 202],
    [256 * MiB, 26],
    [128 * MiB, 24],
    [0, 554],
    [2 ** 64, 554],
  ] as const;
  for (const [limit, heap] of rows) assert.equal(envoyHeapMiB(limit), heap, `${limit}`);
});

test('with the default limit Envoy has what 10,000 connections take that have been answered, 17 KiB each, before it takes no more', () => {
  const limit = quantity(compiledDefaults.resources.envoyProxy.limits['memory'] ?? '0') ?? 0;
  const free = envoyHeapMiB(limit) * 0.9 - 8;
  assert.ok((free * 1024) / 17 > 10_000, `${free} MiB`);
});

test('both images give the processor the part that is reckoned with', () => {
  for (const file of ['Containerfile.sidecar', 'scripts/image.ts']) {
    const text = readFileSync(path.join(import.meta.dirname, '../../..', file), 'utf8');
    assert.ok(text.includes(`--max-old-space-size-percentage=${processorPart * 100}`), file);
  }
});
