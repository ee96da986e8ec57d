import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { systemClock } from '../../../../runtime/engine/clock.ts';
import { createLog } from '../../../../runtime/engine/log.ts';
import type { AdminClient } from '../../../../runtime/sidecar/envoy/admin/client.ts';
import { startEnvoy } from '../../../../runtime/sidecar/envoy/process.ts';

test('a drain goes on when Envoy does not answer for a moment, and ends when nothing is left', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'rossoctl-drain-'));
  const binary = path.join(folder, 'envoy');
  writeFileSync(binary, '#!/bin/sh\nexec sleep 60\n', { mode: 0o755 });
  const said: (Error | number)[] = [new Error('timeout'), 1, new Error('timeout'), 0];
  const admin: AdminClient = {
    get: () => Promise.reject(new Error('timeout')),
    post: () => Promise.reject(new Error('timeout')),
    stats: () => {
      const next = said.shift() ?? 0;
      return next instanceof Error ? Promise.reject(next) : Promise.resolve(new Map([['active', next]]));
    },
  };
  const log = createLog({ level: 'silent', name: 'drain' });
  const clock = { ...systemClock, after: (ms: number, act: () => void) => systemClock.after(Math.min(ms, 20), act) };
  const envoy = startEnvoy({ binary, bootstrap: {}, folder, admin, clock, log });
  try {
    await envoy.drain();
    assert.deepEqual(said, []);
    assert.match(await envoy.ended, /SIGTERM|SIGKILL/);
  } finally {
    await envoy.kill();
    rmSync(folder, { recursive: true, force: true });
  }
});
