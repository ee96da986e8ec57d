/** Waits for work that others wait for too, no longer than one request lives. */

/** What the work gives, or undefined as soon as the signal says so; the work itself goes on. Rejects as the work does. */
export function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  if (signal.aborted) {
    // Nobody else may be waiting for what goes wrong with it.
    work.catch(() => undefined);
    return Promise.resolve(undefined);
  }
  return new Promise((resolve, reject) => {
    const abort = (): void => resolve(undefined);
    signal.addEventListener('abort', abort, { once: true });
    const settled = (): void => signal.removeEventListener('abort', abort);
    work.then(resolve, reject).finally(settled);
  });
}
