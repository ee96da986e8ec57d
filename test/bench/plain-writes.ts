/** What the API server and the controllers behind it can do at all: the writes of an enrolment, sent by a client that thinks nothing. */

import { kinds } from '../../runtime/api/kinds.ts';
import type { ConfigMap } from '../../runtime/api/kubernetes.ts';
import type { Client } from '../../runtime/engine/client.ts';
import type { ObjectKey } from '../../runtime/engine/types.ts';
import { inParallel } from './api-objects.ts';
import { createDeployments, planFleet } from './fleet.ts';

/** As many as the operator works on at once. */
const width = 8;

const configMap = ({ namespace, name }: Required<ObjectKey>): ConfigMap => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { namespace, name },
});

/** Objects a second: each is created, patched twice, has its Deployment's template changed and one more object created. */
export async function plainWritesPerSecond(client: Client, count: number): Promise<number> {
  const fleet = planFleet('plain', count);
  await createDeployments(client, fleet);
  const begun = performance.now();
  await inParallel(fleet.keys, width, async (key) => {
    const patch = (label: string) =>
      client.mergePatch({ kind: kinds.configMap, ...key }, { metadata: { labels: { [label]: 'x' } } });
    await client.create(kinds.configMap, configMap(key));
    await patch('first');
    const template = { spec: { template: { metadata: { labels: { changed: 'x' } } } } };
    await client.mergePatch({ kind: kinds.deployment, ...key }, template);
    await patch('second');
    await client.create(kinds.configMap, configMap({ ...key, name: `${key.name}-event` }));
  });
  return count / ((performance.now() - begun) / 1000);
}
