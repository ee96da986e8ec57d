/** What becomes of tests when what they need is built, or cannot be. */

import type { Tally } from './tally.ts';

/** Test files that need the same thing. */
export interface Part {
  readonly files: readonly string[];
  /** That what they need cannot be built is no failure. */
  readonly mayBeMissing: boolean;
}

/**
 * Runs the part's files once `built` is done. That it cannot be built is one failure for all of them; of a part that can be done without each
 * file is skipped aloud instead. A part without files waits for nothing.
 */
export async function runAfter(
  built: Promise<void>,
  { files, mayBeMissing }: Part,
  { tally, runFiles }: { readonly tally: Tally; readonly runFiles: (files: readonly string[]) => Promise<void> },
): Promise<void> {
  if (files.length === 0) return;
  try {
    await built;
  } catch (error) {
    if (mayBeMissing) for (const file of files) tally.skip(file, String(error));
    else tally.fail('cluster tests', error);
    return;
  }
  await runFiles(files);
}
