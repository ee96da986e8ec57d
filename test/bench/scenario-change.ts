/** A change of the platform's configuration over the whole fleet. */

import { configMaps, install } from '../../runtime/api/names.ts';
import { applyObject } from './api-objects.ts';
import type { Finding } from './figures.ts';
import { watchFleet } from './fleet.ts';
import { peer } from './peer.ts';
import { planeCpuSeconds } from './plane-usage.ts';
import { breakdown, ofFleet } from './scenario-enrol.ts';
import type { World } from './world.ts';

export async function measureChange(world: World): Promise<Finding> {
  const { bed, fleet } = await world.enrolled();
  world.say('change: platform ConfigMap');
  const operator = await bed.operator();
  const count = fleet.keys.length;
  const watching = await watchFleet(bed.users, fleet);
  const [hash] = watching.hashes();
  await bed.audit.untilQuiet(Date.now());
  const before = operator.usage().cpuMs;
  const planeBefore = planeCpuSeconds(bed);
  const from = Date.now();
  const begun = performance.now();
  const changed = watching.allHashedOtherThan(hash);
  const { name, key } = configMaps.platform;
  await applyObject(bed.client, {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { namespace: install.namespace, name },
    data: { [key]: 'spiffe: { trustDomain: changed.example }\n' },
  } as never);
  const times = await changed;
  const seconds = (Math.max(...times.values()) - begun) / 1000;
  await watching.stop();
  await bed.audit.untilQuiet(from);
  const requests = ofFleet(fleet, bed.audit.since(from));
  const planeCpu = planeCpuSeconds(bed) - planeBefore;
  const cpu = (operator.usage().cpuMs - before) / 1000;
  const isWhole = !world.isQuick;
  return {
    title: `change: the platform's ConfigMap, over ${count} runtimes`,
    how: 'One value that every pod gets is changed. Workloads without pods need no place in the rollout, so nothing bounds how many are stamped at once.',
    figures: [
      {
        what: `all ${count} new hashes`,
        value: seconds,
        unit: 's',
        ...(isWhole ? { peer: peer.change.seconds } : {}),
      },
      {
        what: 'requests a runtime until quiet',
        value: requests.length / count,
        unit: '',
        goal: { atMost: 2, why: 'what is above 2 is the one ConfigMap of each namespace' },
        peer: peer.change.requestsInAll,
        note: breakdown(requests, count),
      },
      {
        what: 'CPU of the operator until quiet',
        value: cpu,
        unit: 's',
        ...(isWhole ? { peer: peer.change.cpuSeconds } : {}),
      },
      { what: 'CPU of etcd, API server and controller manager meanwhile', value: planeCpu, unit: 's' },
    ],
  };
}
