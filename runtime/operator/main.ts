/** The operator's process: settings in, signals handled, one exit code out. */

import 'reflect-metadata';
import { systemClock } from '../engine/clock.ts';
import { sentenceOf } from '../engine/errors.ts';
import { createLog } from '../engine/log.ts';
import { connect } from './connect.ts';
import { type Operator, startOperator } from './operator.ts';
import { parseSettings, settingsHelp, UsageError } from './settings.ts';

/** Exit codes: 0 stopped on a signal, 1 failed or lost the lease, 2 usage. */
async function main(argv: readonly string[]): Promise<void> {
  if (argv.includes('--help') || argv.includes('-h')) {
    process.stdout.write(settingsHelp());
    return;
  }
  const settings = parseSettings(argv, process.env);
  const log = createLog({ name: 'rossoctl-operator', level: settings.logLevel });
  process.on('uncaughtException', (error) => {
    log.error('the process cannot go on', { error });
    process.exit(1);
  });
  process.on('unhandledRejection', (error) => {
    log.error('the process cannot go on', { error });
    process.exit(1);
  });
  let operator: Operator | undefined;
  let stopping = false;
  // From the very beginning: as process 1 of a container, a process without a handler never sees the signal.
  const stop = (signal: string): void => {
    if (stopping) return;
    stopping = true;
    log.info('stopping', { signal });
    // Nothing is served and nothing is led while it starts, so there is nothing to end in order.
    if (operator === undefined) process.exit(0);
    operator.stop().then(
      () => process.exit(0),
      (error: unknown) => {
        log.error('the stop failed', { error });
        process.exit(1);
      },
    );
  };
  process.on('SIGTERM', () => stop('SIGTERM'));
  process.on('SIGINT', () => stop('SIGINT'));
  operator = await startOperator({
    settings,
    connection: await connect(settings, systemClock),
    log,
    onLost: (reason) => {
      log.error('the lease is lost, the process ends so that nothing it began can be written', { reason });
      // At once: a process that stood still for long can be caught in Node's HTTP/2 before any timer runs (test/operator-cluster/leader.test.ts).
      process.exit(1);
    },
  });
}

try {
  await main(process.argv.slice(2));
} catch (error) {
  process.stderr.write(`rossoctl-operator: ${sentenceOf(error)}\n`);
  process.exit(error instanceof UsageError ? 2 : 1);
}
