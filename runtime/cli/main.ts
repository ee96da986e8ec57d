/** The command line `rossoctl`: finds the command, runs it, and turns what went wrong into one line and an exit code. */

import { readFileSync } from 'node:fs';
import { suggestion } from '../config/suggest.ts';
import { flagLines, parseFlags } from './arguments.ts';
import { CliError, exitCodes } from './cli-error.ts';
import type { Command, Terminal } from './command.ts';
import { explainCommand } from './explain.ts';
import { injectCommand } from './inject.ts';
import { signCommand } from './sign.ts';
import { statusCommand } from './status.ts';
import { uninstallCommand } from './uninstall.ts';
import { verifyCommand } from './verify.ts';

/** Every command, in the order of the overview. */
export const commands: readonly Command[] = Object.freeze([
  injectCommand,
  explainCommand,
  statusCommand,
  verifyCommand,
  signCommand,
  uninstallCommand,
]);

const debugFlag = { name: 'debug', help: 'on an internal error, print the stack' } as const;
const helpFlag = { name: 'help', short: 'h', help: 'show this text' } as const;

/** Runs one invocation and returns its exit code. Never throws. */
export async function main(argv: readonly string[], terminal: Terminal): Promise<number> {
  try {
    return await dispatch(argv, terminal);
  } catch (error) {
    if (error instanceof CliError) {
      terminal.err(`rossoctl: ${oneLine(error.message)}`);
      return exitCodes.usage;
    }
    terminal.err(`rossoctl: internal error: ${oneLine(error instanceof Error ? error.message : String(error))}`);
    if (argv.includes('--debug') && error instanceof Error) terminal.err(error.stack ?? '');
    return exitCodes.usage;
  }
}

async function dispatch([first, ...rest]: readonly string[], terminal: Terminal): Promise<number> {
  if (first === undefined) throw new CliError(`no command; one of ${names().join(', ')}. See rossoctl --help`);
  if (first === '--help' || first === '-h' || first === 'help') return help(rest[0], terminal);
  if (first === '--version' || first === '-V' || first === 'version') {
    terminal.out(`${version()}\n`);
    return exitCodes.ok;
  }
  const command = found(first);
  const given = parseFlags(rest, [...command.flags, helpFlag, debugFlag]);
  return given.switches.has('help') ? help(command.name, terminal) : await command.run(given, terminal);
}

function found(name: string): Command {
  const command = commands.find((each) => each.name === name);
  if (command !== undefined) return command;
  const close = suggestion(name.replace(/^-+/, ''), names());
  const what = name.startsWith('-') ? 'flag' : 'command';
  const hint = close === undefined ? `commands are ${names().join(', ')}` : `did you mean ${close}?`;
  throw new CliError(`unknown ${what} ${name}; ${hint}`);
}

function names(): readonly string[] {
  return commands.map(({ name }) => name);
}

function help(name: string | undefined, terminal: Terminal): number {
  terminal.out(name === undefined ? overview() : helpOf(found(name)));
  return exitCodes.ok;
}

function overview(): string {
  const width = Math.max(...names().map(({ length }) => length));
  const list = commands.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`);
  return [
    'usage: rossoctl COMMAND [flags]',
    '',
    ...list,
    '',
    'rossoctl COMMAND --help says more; rossoctl --version prints the version.',
    '',
  ].join('\n');
}

function helpOf(command: Command): string {
  return [
    `usage: ${command.usage}`,
    '',
    command.help,
    '',
    ...flagLines([...command.flags, helpFlag, debugFlag]),
    '',
  ].join('\n');
}

/** From package.json, the one place that states it. */
function version(): string {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as { readonly version: string }).version;
}

/** Foreign text in a message stays on one line and moves no cursor. */
function oneLine(message: string): string {
  return message.replaceAll(/\p{Cc}+/gu, ' ');
}
