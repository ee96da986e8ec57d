/** `rossoctl status`: the AgentRuntimes of a cluster on one screen. */

import { type Arguments, valueOf } from './arguments.ts';
import { CliError } from './cli-error.ts';
import type { Command, Terminal } from './command.ts';

export const statusCommand: Command = {
  name: 'status',
  summary: 'show the AgentRuntimes of a cluster, their pods, and what is wrong',
  usage: 'rossoctl status [-n NAMESPACE] [flags]',
  help: 'Not yet.',
  flags: [],
  run: (given: Arguments, _: Terminal) => Promise.reject(new CliError(`not yet ${valueOf(given, 'x') ?? ''}`)),
};
