/** Starts of the operator: on an empty cluster, and over the fleet with nothing changed. */

import type { Figure, Finding } from './figures.ts';
import { peer } from './peer.ts';
import { replicaSetOf, reviewOf } from './review.ts';
import { measureStart, type Start } from './start.ts';
import type { World } from './world.ts';

export async function measureRestart(world: World, empty: () => Promise<EmptyStarts>): Promise<Finding> {
  const starts = await empty();
  const { bed, fleet } = await world.enrolled();
  const [key] = fleet.keys;
  if (key === undefined) throw new Error('the fleet is empty');
  world.say('restart: with the fleet');
  const review = await reviewOf(bed.client, key, await replicaSetOf(bed.client, key));
  await bed.audit.untilQuiet(Date.now());
  const again = await measureStart(bed, review, (body) => body.includes('"patch"'));
  const count = fleet.keys.length;
  return {
    title: `restart: empty, and with ${count} runtimes and nothing changed`,
    how: 'From the start of the process. "First admission": the first answer of 200 to a review sent every few milliseconds; with the fleet, one that injects. The operator stands for the lease as it does in an install; the former one gave it back. At the first start of all it also makes its certificates and publishes their authority.',
    figures: [
      { what: 'first start of all: first admission', value: starts.first.admission, unit: 's', goal: soon },
      ...figuresOf('empty', starts.second, {
        admission: peer.start.admission,
        ready: peer.start.ready,
        rss: peer.memory.empty,
      }),
      ...figuresOf(`${count} runtimes`, again, { admission: peer.restart.admission, rss: peer.memory.fleet }),
      {
        what: `${count} runtimes: requests a runtime until quiet`,
        value: again.requests / count,
        unit: '',
        peer: peer.restart.requests,
      },
      {
        what: `${count} runtimes: CPU until quiet`,
        value: again.cpu,
        unit: 's',
        ...(world.isQuick ? {} : { peer: peer.restart.cpuSeconds }),
      },
    ],
  };
}

export interface EmptyStarts {
  readonly first: Start;
  readonly second: Start;
}

const soon = {
  atMost: 1.5,
  why: 'loading the program is most of it, and the other processes take their share',
} as const;

interface Peers {
  readonly admission: number;
  readonly ready?: number;
  readonly rss: number;
}

function figuresOf(where: string, start: Start, theirs: Peers): readonly Figure[] {
  return [
    { what: `${where}: first admission`, value: start.admission, unit: 's', goal: soon, peer: theirs.admission },
    {
      what: `${where}: ready`,
      value: start.ready,
      unit: 's',
      ...(theirs.ready === undefined ? {} : { peer: theirs.ready }),
    },
    { what: `${where}: every watch answered`, value: start.synced, unit: 's' },
    { what: `${where}: CPU until then`, value: start.cpuSynced, unit: 's' },
    { what: `${where}: watches opened`, value: start.watches, unit: '' },
    { what: `${where}: other requests`, value: start.requests, unit: '' },
    {
      what: `${where}: writes`,
      value: start.writes,
      unit: '',
      goal: { atMost: 0, why: 'something had changed' },
    },
    {
      what: `${where}: RSS`,
      value: start.usage.rssMib,
      unit: 'MiB',
      peer: theirs.rss,
      goal: { atMost: 150, why: 'about 45 MiB are Node itself' },
    },
    { what: `${where}: heap`, value: start.heapMib, unit: 'MiB' },
  ];
}
