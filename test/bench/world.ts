/** What every scenario is given: sizes, a voice, the bundle, and the bed that several of them share. */

import type { BenchBed } from './bed.ts';
import type { Enrolled } from './scenario-enrol.ts';

export interface World {
  readonly isQuick: boolean;
  /** The size of a full run, a tenth of it in a quick one. */
  size(full: number): number;
  say(text: string): void;
  /** Path of the bundled operator. */
  readonly bundle: string;
  /** One control plane with controllers, the platform and its gates, for all scenarios that one is enough for. */
  bed(): Promise<BenchBed>;
  /** The 500 runtimes on that bed, enrolled; the operator is running. */
  enrolled(): Promise<Enrolled>;
}
