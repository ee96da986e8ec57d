// One at a time, across processes, and a claim that ends with its holder.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import test from 'node:test';
import { claimForLife, exclusively } from './exclusive.ts';

test('work under one subject does not overlap', async () => {
  const events: string[] = [];
  const work = (name: string) => async (): Promise<void> => {
    events.push(`${name} begins`);
    await new Promise((done) => setTimeout(done, 50));
    events.push(`${name} ends`);
  };
  const subject = `test ${process.pid}`;
  await Promise.all([exclusively(subject, () => {}, work('a')), exclusively(subject, () => {}, work('b'))]);
  assert.equal(events[1], events[0]?.replace('begins', 'ends'));
  assert.equal(events.length, 4);
});

test('the claim of a killed process does not hold up the next', async () => {
  const subject = `test killed ${process.pid}`;
  const module = JSON.stringify(join(import.meta.dirname, 'exclusive.ts'));
  const script = `import { exclusively } from ${module};
    await exclusively(${JSON.stringify(subject)}, () => {}, async () => { console.log('held'); setInterval(() => {}, 1000); await new Promise(() => {}); });`;
  const holder = spawn(process.execPath, ['--input-type=module-typescript', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(holder.stdout, 'data');
  let hasWaited = false;
  const next = exclusively(
    subject,
    () => {
      hasWaited = true;
    },
    () => Promise.resolve('done'),
  );
  await new Promise((done) => setTimeout(done, 500));
  assert.equal(hasWaited, true);
  holder.kill('SIGKILL');
  assert.equal(await next, 'done');
});

test('a subject is claimed for life once', async () => {
  const subject = `test for life ${process.pid}`;
  assert.deepEqual([await claimForLife(subject), await claimForLife(subject)], [true, false]);
});
