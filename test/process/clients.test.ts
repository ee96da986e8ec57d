/** The operator's clients: what somebody waits for goes out at once, however much the controllers have to ask. */

import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { after, before, test } from 'node:test';
import { kinds } from '../../runtime/api/kinds.ts';
import { liveReader } from '../../runtime/engine/client.ts';
import { systemClock } from '../../runtime/engine/clock.ts';
import { createMetrics } from '../../runtime/engine/metrics.ts';
import { createClients } from '../../runtime/operator/connect.ts';
import { parseSettings } from '../../runtime/operator/settings.ts';

const server = createServer((_request, response) => {
  response.setHeader('content-type', 'application/json');
  response.end('{"metadata":{"name":"there"}}');
});
before(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)));
after(() => new Promise((resolve) => server.close(resolve)));

test('an admission, the Lease and the look before the end wait for no rate that the work has used up', async (t) => {
  const address = server.address();
  assert.ok(address !== null && typeof address === 'object');
  const clients = createClients({
    connection: {
      server: `http://127.0.0.1:${address.port}`,
      currentNamespace: 'default',
      authorization: () => Promise.resolve(undefined),
      tls: () => Promise.resolve({}),
      refresh: () => {},
    },
    clock: systemClock,
    metrics: createMetrics({ process: false }),
    settings: parseSettings(['--kube-api-qps', '0.001', '--kube-api-burst', '1'], {}),
  });
  t.after(() => clients.close());
  const key = { name: 'there' };
  await clients.work.get(kinds.namespace, key);
  const held = AbortSignal.timeout(300);
  await assert.rejects(clients.work.get(kinds.namespace, key, { signal: held }));
  for (const client of [clients.prompt, clients.lease]) {
    const found = await liveReader(client, AbortSignal.timeout(3_000)).get(kinds.namespace, key);
    assert.equal(found?.metadata.name, 'there');
  }
});
