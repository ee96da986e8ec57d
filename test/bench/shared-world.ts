/** The world of one run: the shared bed is started when first asked for, its fleet enrolled when first asked for. */

import { type BenchBed, startBenchBed } from './bed.ts';
import { agentNamespace } from './installation.ts';
import { reviewOf } from './review.ts';
import { enrolFleet, type Enrolled, newFleet } from './scenario-enrol.ts';
import type { EmptyStarts } from './scenario-restart.ts';
import { measureStart } from './start.ts';
import type { World } from './world.ts';

export interface SharedWorld extends World {
  /** Of the shared bed, before anything was on it. */
  emptyStarts(): Promise<EmptyStarts>;
  /** Whether no later scenario of this run needs the shared bed. */
  isLastOnBed(name: string, only: readonly string[]): boolean;
  stopBed(): Promise<void>;
}

const onBed: readonly string[] = ['admission', 'pods', 'enrol', 'change', 'restart', 'idle'];

interface Begun {
  readonly bed: BenchBed;
  readonly starts: EmptyStarts;
}

export function createWorld(given: Pick<World, 'isQuick' | 'bundle' | 'say'>): SharedWorld {
  const { isQuick, bundle, say } = given;
  let begun: Promise<Begun> | undefined;
  let enrolled: Promise<Enrolled> | undefined;
  const begin = async (): Promise<Begun> => {
    say('control plane, platform, two starts of the operator on the empty cluster');
    const bed = await startBenchBed({ name: 'shared', bundle, withControllerManager: true });
    await bed.closeGates();
    const review = await emptyReview(bed);
    const first = await measureStart(bed, review);
    return { bed, starts: { first, second: await measureStart(bed, review) } };
  };
  const started = (): Promise<Begun> => (begun ??= begin());
  const world: SharedWorld = {
    ...given,
    size: (full) => (isQuick ? Math.max(1, Math.round(full / 10)) : full),
    bed: async () => (await started()).bed,
    emptyStarts: async () => (await started()).starts,
    enrolled: () => (enrolled ??= started().then(({ bed }) => enrolFleet(bed, newFleet(world)))),
    isLastOnBed: (name, only) => onBed.findLast((each) => only.length === 0 || only.includes(each)) === name,
    stopBed: async () => {
      await (await begun)?.bed.stop();
    },
  };
  return world;
}

/** Of a pod without a workload: there is nothing else on the cluster yet. */
async function emptyReview(bed: BenchBed): Promise<string> {
  const key = { namespace: agentNamespace, name: 'nobody' };
  for (;;) {
    try {
      return await reviewOf(bed.client, key, undefined);
    } catch {
      // The namespace has no default account yet.
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}
