import assert from 'node:assert/strict';
import https from 'node:https';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { allow } from '../runtime/engine/admission-fixtures.ts';
import { call } from '../runtime/engine/https-call.ts';
import { start } from './running.ts';

describe('the end', () => {
  test('not ready first, still serving, then what is under way is finished, then closed', async () => {
    const running = await start({
      review: async (request) => {
        await sleep(300);
        return allow(request);
      },
    });
    const agent = new https.Agent({ keepAlive: true });
    assert.equal((await call({ running, agent })).status, 200);
    const closed = running.server.close({ lingerMs: 300, graceMs: 5000 });
    assert.equal(running.health.readyz().ok, false);
    assert.match(running.health.readyz().checks[0]?.reason ?? '', /shutting down/);
    const during = await Promise.all([call({ running, agent }), call({ running })]);
    assert.deepEqual(
      during.map(({ status }) => status),
      [200, 200],
    );
    await closed;
    await assert.rejects(call({ running }), /ECONNREFUSED/);
    agent.destroy();
  });

  test('a request that does not end is cut after the grace', async () => {
    const running = await start({ review: () => new Promise(() => {}) });
    const hanging = call({ running }).then(
      () => 'answered',
      () => 'cut',
    );
    await sleep(100);
    const begun = performance.now();
    await running.server.close({ lingerMs: 0, graceMs: 200 });
    assert.ok(performance.now() - begun < 2000);
    assert.equal(await hanging, 'cut');
  });

  test('under load no request fails, when clients have learnt within the linger that this replica is not ready', async () => {
    const running = await start();
    const agent = new https.Agent({ keepAlive: true, maxSockets: 20 });
    const learnt = new AbortController();
    const outcomes: string[] = [];
    const worker = async (own: boolean): Promise<void> => {
      while (!learnt.signal.aborted) {
        const answer = await call({ running, ...(own ? {} : { agent }) }).catch((error: unknown) => ({
          status: String(error),
        }));
        outcomes.push(String(answer.status));
      }
    };
    const workers = Array.from({ length: 20 }, (_, i) => worker(i % 2 === 0));
    await sleep(200);
    const closed = running.server.close({ lingerMs: 2000, graceMs: 5000 });
    await sleep(250);
    learnt.abort();
    await Promise.all([...workers, closed]);
    agent.destroy();
    assert.deepEqual([...new Set(outcomes)], ['200']);
    assert.ok(outcomes.length >= 20);
  });
});
