/** Ends what the benchmark has started, also when it is interrupted. */

const open = new Set<() => Promise<void>>();

/** Remembers how to end something; returns the same, which forgets it. Ending twice does nothing. */
export function ends(end: () => Promise<void>): () => Promise<void> {
  const once = async (): Promise<void> => {
    if (open.delete(once)) await end();
  };
  open.add(once);
  return once;
}

/** The last started is ended first. */
export async function endAll(): Promise<void> {
  for (const end of [...open].toReversed()) {
    try {
      await end();
    } catch (error) {
      process.stderr.write(`bench: clean-up: ${error instanceof Error ? error.message : String(error)}\n`);
    }
  }
}

/** On Ctrl-C everything ends, then the process. */
export function endOnSignals(): void {
  const stop = (code: number) => (): void => {
    void endAll().then(() => process.exit(code));
  };
  process.once('SIGINT', stop(130));
  process.once('SIGTERM', stop(143));
}
