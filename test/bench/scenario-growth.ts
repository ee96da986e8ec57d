/** Whether the cost of a runtime stays the same as their number grows: each size on a control plane of its own. */

import { startBenchBed } from './bed.ts';
import type { Figure, Finding } from './figures.ts';
import { planFleet } from './fleet.ts';
import { enrolFleet } from './scenario-enrol.ts';
import type { World } from './world.ts';

const sizes = [100, 500, 1_000, 2_000] as const;
const quickSizes = [100, 500, 2_000] as const;

interface Point {
  readonly count: number;
  readonly seconds: number;
  readonly cpuMs: number;
  readonly requests: number;
  readonly rssMib: number;
}

async function pointOf(world: World, count: number): Promise<Point> {
  world.say(`growth: ${count} runtimes`);
  const bed = await startBenchBed({ name: 'growth', bundle: world.bundle, withControllerManager: true });
  await bed.closeGates();
  const { enrolment, cpuSeconds, requests, usage } = await enrolFleet(bed, planFleet('grow', count));
  await bed.stop();
  return {
    count,
    seconds: enrolment.seconds,
    cpuMs: (cpuSeconds * 1000) / count,
    requests: requests.length / count,
    rssMib: usage.rssMib,
  };
}

export async function measureGrowth(world: World): Promise<Finding> {
  const points: Point[] = [];
  for (const size of world.isQuick ? quickSizes : sizes) points.push(await pointOf(world, world.size(size)));
  const [first, second] = points;
  const last = points.at(-1);
  if (first === undefined || second === undefined || last === undefined) throw new Error('no sizes');
  const figures = points.flatMap(({ count, seconds, cpuMs, requests, rssMib }): Figure[] => [
    { what: `${count} runtimes: until all are Ready`, value: seconds, unit: 's' },
    { what: '… CPU a runtime', value: cpuMs, unit: 'ms' },
    { what: '… requests a runtime', value: requests, unit: '' },
    { what: '… RSS', value: rssMib, unit: 'MiB' },
  ]);
  const linear = { atMost: 1.3, why: 'the cost of a runtime grows with their number' };
  const times = `${last.count} to ${first.count}`;
  return {
    title: `growth: ${first.count} to ${last.count} runtimes`,
    how: 'Each size on an empty control plane, with an operator just started. A program is slow while it is new, so the cost at the smallest size has the warm-up in it; the ratio to the second size has less of it.',
    figures: [
      ...figures,
      { what: `CPU a runtime, ${times}`, value: last.cpuMs / first.cpuMs, unit: '×', goal: linear },
      {
        what: `CPU a runtime, ${last.count} to ${second.count}`,
        value: last.cpuMs / second.cpuMs,
        unit: '×',
        goal: linear,
      },
      { what: `requests a runtime, ${times}`, value: last.requests / first.requests, unit: '×', goal: linear },
      {
        what: `RSS for each further runtime, ${times}`,
        value: ((last.rssMib - first.rssMib) * 1024) / (last.count - first.count),
        unit: 'KiB',
      },
    ],
  };
}
