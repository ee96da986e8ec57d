/** How a process ends: in order on a signal, and with a line in its log when something was caught by nobody. */

import type { Log } from './types.ts';

export interface Program {
  /** A signal came, and the process is ending because of it. */
  readonly isStopping: boolean;
  /** From here on a signal calls `stop` before the process ends. Until then there is nothing to end in order, and it ends at once. */
  stopsBy(stop: () => Promise<void>): void;
}

/**
 * Handles SIGTERM, SIGINT and what nobody caught; called once, before anything is started: as process 1 of a container, a process without a
 * handler never sees the signal. Exit codes: 0 on a signal, 1 when the stop failed or the process cannot go on.
 */
export function beginProgram(log: Log): Program {
  const failWith = (message: string) => (error: unknown) => {
    log.error(message, { error });
    process.exit(1);
  };
  process.on('uncaughtException', failWith('the process cannot go on'));
  process.on('unhandledRejection', failWith('the process cannot go on'));
  let stop: (() => Promise<void>) | undefined;
  let isStopping = false;
  const onSignal = (signal: string): void => {
    if (isStopping) return;
    isStopping = true;
    log.info('stopping', { signal });
    if (stop === undefined) process.exit(0);
    stop().then(() => process.exit(0), failWith('the stop failed'));
  };
  process.on('SIGTERM', onSignal);
  process.on('SIGINT', onSignal);
  return {
    get isStopping() {
      return isStopping;
    },
    stopsBy: (how) => {
      stop = how;
    },
  };
}
