/** A start in a big cluster: thousands of pods, and more Deployments than are enrolled. */

import { kinds } from '../../runtime/api/kinds.ts';
import { startBenchBed } from './bed.ts';
import { createAccounts, createPods } from './enrolled-pods.ts';
import type { Finding } from './figures.ts';
import { createDeployments, enrol, planFleet } from './fleet.ts';
import { reviewOf } from './review.ts';
import { measureStart } from './start.ts';
import type { World } from './world.ts';

const podsEach = 10;

export async function measureLarge(world: World): Promise<Finding> {
  const { bundle } = world;
  const [deployments, runtimes] = [world.size(2_000), world.size(500)];
  const all = planFleet('large', deployments);
  const enrolled = { ...all, keys: all.keys.slice(0, runtimes) };
  // No controllers: they would delete pods that no ReplicaSet has asked for.
  const bed = await startBenchBed({ name: 'large', bundle, withControllerManager: false });
  world.say(`large: ${deployments} Deployments, ${runtimes} runtimes`);
  await createDeployments(bed.client, all);
  await createAccounts(bed.client, all.namespaces);
  await (await bed.operator()).untilReady();
  await enrol(bed.users, enrolled);
  world.say(`large: ${runtimes * podsEach} pods`);
  await (await bed.operator()).stop();
  const pods = await createPods(bed.client, enrolled.keys, { each: podsEach, seconds: 120 });
  await (await bed.restartOperator()).untilReady();
  const [key] = enrolled.keys;
  if (key === undefined) throw new Error('the fleet is empty');
  await bed.closeGates();
  await bed.webhookAuthority();
  await bed.audit.untilQuiet(Date.now());
  const replicaSet = (await bed.client.list(kinds.replicaSet, { namespace: key.namespace })).items.find(
    ({ metadata }) => metadata.ownerReferences?.some(({ name }) => name === key.name),
  );
  const review = await reviewOf(bed.client, key, replicaSet);
  world.say('large: start');
  const start = await measureStart(bed, review, (body) => body.includes('"patch"'));
  await bed.stop();
  return {
    title: `large: ${pods} pods, ${deployments} Deployments, ${runtimes} runtimes`,
    how: 'The pods are never scheduled and carry the labels, owners and annotations of injected ones; no controller runs beside them. The operator is started over all of it.',
    figures: [
      { what: 'first admission, injected', value: start.admission, unit: 's', goal: { atMost: 1.5, why } },
      { what: 'ready', value: start.ready, unit: 's' },
      { what: 'every watch answered', value: start.synced, unit: 's' },
      { what: 'CPU until then', value: start.cpuSynced, unit: 's' },
      { what: 'CPU until quiet', value: start.cpu, unit: 's' },
      { what: 'writes', value: start.writes, unit: '', goal: { atMost: 0, why: 'something had changed' } },
      { what: 'RSS', value: start.usage.rssMib, unit: 'MiB' },
      { what: 'RSS at its peak', value: start.usage.peakMib, unit: 'MiB' },
      { what: 'heap', value: start.heapMib, unit: 'MiB' },
    ],
  };
}

const why = 'reading everything takes its time before the cache can say what is not there';
