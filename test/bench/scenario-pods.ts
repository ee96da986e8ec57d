/** Pods through the API server as dry runs, with and without injection. */

import type { Figure, Finding } from './figures.ts';
import { load } from './load-client.ts';
import { peer } from './peer.ts';
import { podOf } from './review.ts';
import { agent, enrolledAgent } from './scenario-admission.ts';
import type { World } from './world.ts';

export async function measurePods(world: World): Promise<Finding> {
  const bed = await world.bed();
  const replicaSet = await enrolledAgent(bed);
  const operator = await bed.operator();
  const url = `${bed.plane.server}/api/v1/namespaces/${agent.namespace}/pods?dryRun=All`;
  const figures: Figure[] = [];
  for (const connections of [1, 8] as const) {
    for (const isLabelled of [true, false]) {
      world.say(`pods: ${connections} clients, ${isLabelled ? 'injected' : 'not injected'}`);
      const body = JSON.stringify(podOf(agent, replicaSet, isLabelled));
      const job = { url, ...bed.admin, body, connections, warmUp: world.size(100), requests: world.size(200) };
      const done = await load(job, operator.pid, [201]);
      const [ours, theirs] = [connections === 1 ? '1 client' : '8 clients', peer.pods];
      figures.push(
        {
          what: `${ours}, ${isLabelled ? 'injected' : 'without injection'}`,
          value: done.perSecond,
          unit: 'pods/s',
          peer: (isLabelled ? theirs.injected : theirs.plain)[connections],
        },
        { what: '… p50', value: done.p50, unit: 'ms', ...(isLabelled ? { peer: theirs.p50[connections] } : {}) },
        ...(isLabelled ? [{ what: '… CPU of the operator', value: done.cpuMsEach, unit: 'ms each' }] : []),
      );
    }
  }
  return {
    title: 'pods: through the API server',
    how: `${world.size(200)} pods are created as dry runs by the administrator. What is not the webhook (the API server's own work, most of it) is in both rows, so the difference between them is the price of an injection. The webhook is called twice for a pod (reinvocation); the second call finds the injected containers.`,
    figures,
  };
}
