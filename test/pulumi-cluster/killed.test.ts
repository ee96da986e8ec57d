/** A run that is killed amid its work: the next one goes on where it ended. */

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { kinds } from '../../runtime/api/kinds.ts';
import { install } from '../../runtime/api/names.ts';
import { eventually } from '../support/engine-bed.ts';
import { startPulumiBed } from './bed.ts';

let bed: Awaited<ReturnType<typeof startPulumiBed>>;
before(async () => {
  bed = await startPulumiBed('killed');
});
after(() => bed.stop());

test('a killed up is ended by the next one, after cancel, and nothing is made twice', {
  timeout: 600_000,
}, async () => {
  const platform = { image: 'example.test/rossoctl:1', namespaces: [{ name: 'team1' }] };
  // Without nodes no pod of the operator ever runs: the CLI waits for its Deployment until it is killed.
  const stack = await bed.stack('killed', { platform, cluster: { await: true } });
  const killing = new AbortController();
  const killed = stack.upUntil(killing.signal);
  await eventually(async () => {
    const { items } = await bed.client.list(kinds.deployment, { namespace: install.namespace });
    assert.equal(items.length, 1);
  });
  killing.abort();
  await killed;
  await assert.rejects(stack.run('up'), /lock/);
  await stack.cancel();
  stack.configure({ platform });
  await stack.run('up');
  assert.deepEqual(await stack.preview(), []);
  const { deleted } = await stack.run('destroy');
  assert.ok(deleted !== undefined && deleted > 20);
});
