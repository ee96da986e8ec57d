import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { createHealth, renderHealth } from '../../../runtime/engine/health.ts';
import type { Health } from '../../../runtime/engine/health.ts';

const started: Health[] = [];
afterEach(() => {
  for (const health of started.splice(0)) health.stop();
});

function health(options = {}): Health {
  const made = createHealth(options);
  started.push(made);
  return made;
}

test('ready is the sum of its checks, each failing one with its sentence', () => {
  const it = health();
  assert.deepEqual(it.readyz(), { ok: true, checks: [], degraded: [] });
  let reason: string | undefined = 'the cache has not seen pods yet';
  it.ready('cache', () => reason);
  it.ready('certificate', () => undefined);
  assert.equal(it.readyz().ok, false);
  assert.equal(renderHealth(it.readyz(), false), 'cache: the cache has not seen pods yet\n');
  reason = undefined;
  assert.equal(renderHealth(it.readyz(), false), 'ok\n');
});

test('a degraded feature is listed and fails nothing', () => {
  const it = health();
  it.degraded('agent-card', () => 'the CRD agentcards.agent.rossoctl.dev is absent');
  const report = it.readyz();
  assert.equal(report.ok, true);
  assert.match(renderHealth(report, true), /"degraded":\[\{"name":"agent-card","ok":false,"reason":"the CRD/);
});

test('a check that throws fails with its message; a removed check is gone; a name is used once', () => {
  const it = health();
  const remove = it.ready('odd', () => {
    throw new Error('no such thing');
  });
  assert.deepEqual(it.readyz().checks, [{ name: 'odd', ok: false, reason: 'no such thing' }]);
  assert.throws(() => it.ready('odd', () => undefined), /odd/);
  remove();
  assert.equal(it.readyz().ok, true);
});
