/** A client whose only answer is one watch: many objects, then the end of the view; for measuring the cache without a server. */

import { createCache } from '../../runtime/engine/cache.ts';
import type { Client } from '../../runtime/engine/client.ts';
import { systemClock } from '../../runtime/engine/clock.ts';
import { createMetrics } from '../../runtime/engine/metrics.ts';
import type { KubeObject, Log, Watch } from '../../runtime/engine/types.ts';

const silent: Log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {}, child: () => silent };

/** The chunks in which an API server would send the objects: some 32 KiB each. */
function chunksOf(objects: readonly KubeObject[]): readonly Buffer[] {
  const metadata = { resourceVersion: '1', annotations: { 'k8s.io/initial-events-end': 'true' } };
  const end = { type: 'BOOKMARK', object: { apiVersion: 'v1', kind: 'Pod', metadata } };
  const lines = [...objects.map((object) => ({ type: 'ADDED', object })), end].map(
    (event) => `${JSON.stringify(event)}\n`,
  );
  const whole = Buffer.from(lines.join(''));
  const size = 32 * 1024;
  return Array.from({ length: Math.ceil(whole.length / size) }, (_, index) =>
    whole.subarray(index * size, (index + 1) * size),
  );
}

/** Objects a second through parsing, reducing, indexing and telling one listener. */
export async function eventsPerSecond<T extends KubeObject>(watch: Watch<T>, objects: readonly T[]): Promise<number> {
  const chunks = chunksOf(objects);
  const client = {
    watch: () =>
      Promise.resolve(
        (async function* () {
          yield* chunks;
          await new Promise(() => {});
        })(),
      ),
  } as unknown as Client;
  const metrics = createMetrics({ process: false });
  const cache = createCache({ client, clock: systemClock, log: silent, metrics });
  let heard = 0;
  cache.subscribe(watch, () => (heard += 1));
  const begun = performance.now();
  await cache.synced(watch);
  const seconds = (performance.now() - begun) / 1000;
  if (heard !== objects.length) throw new Error(`${heard} of ${objects.length} objects were told`);
  void cache.stop();
  return heard / seconds;
}
