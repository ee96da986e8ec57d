/** The operator's process: settings in, signals handled, one exit code out. */

import 'reflect-metadata';
import { systemClock } from '../engine/clock.ts';
import { sentenceOf } from '../engine/errors.ts';
import { createLog } from '../engine/log.ts';
import { beginProgram } from '../engine/program.ts';
import { connect } from './connect.ts';
import { startOperator } from './operator.ts';
import { parseSettings, settingsHelp, UsageError } from './settings.ts';

/** Exit codes: 0 stopped on a signal, 1 failed or lost the lease, 2 usage. */
async function main(argv: readonly string[]): Promise<void> {
  if (argv.includes('--help') || argv.includes('-h')) {
    process.stdout.write(settingsHelp());
    return;
  }
  const settings = parseSettings(argv, process.env);
  const log = createLog({ name: 'rossoctl-operator', level: settings.logLevel });
  const program = beginProgram(log);
  const operator = await startOperator({
    settings,
    connection: await connect(settings, systemClock),
    log,
    onLost: (reason) => {
      log.error('the lease is lost, the process ends so that nothing it began can be written', { reason });
      // At once: a process that stood still for long can be caught in Node's HTTP/2 before any timer runs (test/operator-cluster/leader.test.ts).
      process.exit(1);
    },
  });
  program.stopsBy(() => operator.stop());
}

try {
  await main(process.argv.slice(2));
} catch (error) {
  process.stderr.write(`rossoctl-operator: ${sentenceOf(error)}\n`);
  process.exit(error instanceof UsageError ? 2 : 1);
}
