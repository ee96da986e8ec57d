/** A while with the fleet and nothing to do. */

import { setTimeout as sleep } from 'node:timers/promises';
import type { Finding } from './figures.ts';
import { peer } from './peer.ts';
import { untilPlaneRests } from './plane-usage.ts';
import { isWrite } from './start.ts';
import type { World } from './world.ts';

export async function measureIdle(world: World): Promise<Finding> {
  const { bed, fleet } = await world.enrolled();
  const operator = await bed.operator();
  const seconds = world.size(60);
  world.say(`idle: ${seconds} s`);
  await untilPlaneRests(bed);
  const before = operator.usage().cpuMs;
  const from = Date.now();
  const begun = performance.now();
  await sleep(seconds * 1000);
  const after = operator.usage();
  const lasted = performance.now() - begun;
  const requests = bed.audit.since(from);
  return {
    title: `idle: ${seconds} s with ${fleet.keys.length} runtimes`,
    how: 'Nothing changes. The Go operator ran without leader election; ours holds its lease and renews it.',
    figures: [
      {
        what: 'CPU of the operator',
        value: ((after.cpuMs - before) / lasted) * 100,
        unit: '% of a core',
        peer: peer.idle.cpuPercent,
      },
      { what: 'requests', value: requests.length, unit: '' },
      { what: 'writes', value: requests.filter(isWrite).length, unit: '', goal: { atMost: 0 }, peer: peer.idle.writes },
      { what: 'renewals of the lease', value: bed.audit.leasesSince(from), unit: '' },
      {
        what: 'RSS',
        value: after.rssMib,
        unit: 'MiB',
        goal: { atMost: 150, why: 'about 45 MiB are Node itself' },
        peer: peer.memory.fleet,
      },
    ],
  };
}
