/** The cache's view of a list whose pages expire on the way. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createCache } from '../../../runtime/engine/cache.ts';
import { createClient } from '../../../runtime/engine/client.ts';
import { createLog } from '../../../runtime/engine/log.ts';
import { createMetrics } from '../../../runtime/engine/metrics.ts';
import type { Kind } from '../../../runtime/engine/types.ts';
import { fakeClock } from '../../support/fake-clock.ts';
import { refused, scriptedTransport } from '../../support/scripted-transport.ts';

const widgets: Kind = { apiVersion: 'example.test/v1', kind: 'Widget', plural: 'widgets', namespaced: true };
const widget = (name: string) => ({ metadata: { namespace: 'n', name, uid: name, resourceVersion: '1' } });

test('WT-02: what has gone since a page that was read before the continuation expired is not in the view', async () => {
  const clock = fakeClock();
  const transport = scriptedTransport(({ query }) => {
    if (query?.['continue'] !== undefined) throw refused(410);
    if (query?.['limit'] !== undefined) return { metadata: { continue: 'more' }, items: [widget('a'), widget('b')] };
    return { metadata: { resourceVersion: '50' }, items: [widget('b'), widget('c')] };
  });
  const log = createLog({ level: 'silent', name: 'test' });
  const cache = createCache({
    client: createClient(transport),
    clock,
    log,
    metrics: createMetrics(),
    streamLists: false,
  });
  const watch = { id: 'widgets', kind: widgets };
  await cache.synced(watch);
  assert.deepEqual(
    cache.list(watch).map(({ metadata }) => metadata.name),
    ['b', 'c'],
  );
  await cache.stop();
});
