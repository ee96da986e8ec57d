/** What the load generator is told and what it answers. */

export interface LoadJob {
  readonly url: string;
  /** PEM. */
  readonly ca: string;
  readonly cert?: string;
  readonly key?: string;
  readonly body: string;
  readonly connections: number;
  readonly warmUp: number;
  readonly requests: number;
}

export interface LoadResult {
  readonly seconds: number;
  /** Milliseconds of each request, in the order in which they ended. */
  readonly latencies: readonly number[];
  /** By HTTP status. */
  readonly statuses: Readonly<Record<string, number>>;
  /** Of the last answer. */
  readonly body: string;
  /** The generator's own CPU time, in milliseconds. */
  readonly cpuMs: number;
}

export type FromParent = { readonly job: LoadJob } | 'go';
export type FromLoad = 'ready' | { readonly result: LoadResult } | { readonly failure: string };
