/** What an install has brought about when it is taken down. */

import assert from 'node:assert/strict';
import { kinds } from '../../runtime/api/kinds.ts';
import { labels } from '../../runtime/api/names.ts';
import type { Client } from '../../runtime/engine/client.ts';
import { eventually } from '../support/engine-bed.ts';
import { untilSays } from '../support/enrolments.ts';
import { applyAll, kindOf } from '../support/operator-platform.ts';
import { createNamespace, runtimeFor, workload, type Written } from '../support/workload-objects.ts';

/** Enrolled workloads of several kinds, one with a card of its own, and one AgentRuntime whose target is gone. */
export async function enrolled(client: Client, namespace: string): Promise<readonly Written[]> {
  await createNamespace(client, namespace);
  const spoken = { [`${labels.protocolPrefix}a2a`]: '' };
  const written = (['Deployment', 'StatefulSet', 'DaemonSet', 'CronJob'] as const).map((kind) => {
    const object = workload(kind, namespace, `a-${kind.toLowerCase()}`);
    return { ...object, metadata: { ...object.metadata, labels: { ...object.metadata.labels, ...spoken } } };
  });
  for (const object of written) await client.create(kindOf(object), object);
  const runtimes = written.map((object) => runtimeFor(object));
  const orphan = runtimeFor(workload('Deployment', namespace, 'never-there'));
  await applyAll(client, [...runtimes, orphan]);
  for (const runtime of runtimes) await untilSays(client, runtime, 'Active/Configured');
  await eventually(async () => {
    assert.equal((await client.list(kinds.agentCard, { namespace })).items.length, 2);
    assert.equal((await client.list(kinds.networkPolicy, { namespace })).items.length, 2);
  });
  return written;
}
