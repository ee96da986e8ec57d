/** A short chaos run within the suite; `npm run chaos` is the long one. */

import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { test } from 'node:test';
import { runChaos } from '../chaos/run.ts';

test('a minute of kills, cut connections and restarts amid changes of 20 AgentRuntimes ends converged', {
  // Longer than all phases of a run together, each of which is bounded and says so by name.
  timeout: 660_000,
}, async (t) => {
  const seed = randomInt(1, 2 ** 31);
  const said: string[] = [`seed ${seed}`];
  t.after(() => t.diagnostic(said.join('; ')));
  const result = await runChaos({
    seed,
    runtimes: 20,
    harmMs: 45_000,
    longestMs: 12_000,
    convergeMs: 120_000,
    say: (line) => said.push(line),
  });
  const again = `npm run chaos -- --runtimes 20 --minutes 1 --seed ${seed}`;
  assert.deepEqual(result.complaints, [], `${again} (${said.join('; ')})`);
});
