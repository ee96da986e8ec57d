/** Single functions in this process: no cluster, no network. */

import type { Finding } from './figures.ts';
import type { World } from './world.ts';

export function measurePure(_world: World): Promise<Finding> {
  return Promise.resolve({ title: 'pure: functions', how: '', figures: [] });
}
