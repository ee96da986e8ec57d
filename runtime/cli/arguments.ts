/** Parses a command's flags: unknown ones are refused with the flag that was probably meant. */

import { parseArgs } from 'node:util';
import { suggestion } from '../config/suggest.ts';
import { CliError } from './cli-error.ts';

/** One flag of a command, as parsed and as described by `--help`. */
export interface Flag {
  readonly name: string;
  readonly short?: string;
  /** Placeholder of its value; a flag without one is a switch. */
  readonly value?: string;
  readonly multiple?: boolean;
  readonly help: string;
}

export interface Arguments {
  readonly switches: ReadonlySet<string>;
  /** Values by flag, in the order given. */
  readonly values: ReadonlyMap<string, readonly string[]>;
  readonly positionals: readonly string[];
}

/** Throws `CliError` for an unknown flag, a missing value, or a value given twice to a flag that takes one. */
export function parseFlags(argv: readonly string[], flags: readonly Flag[]): Arguments {
  const options = Object.fromEntries(
    flags.map(({ name, short, value }) => [
      name,
      { type: value === undefined ? 'boolean' : 'string', multiple: true, ...(short === undefined ? {} : { short }) },
    ]),
  );
  const { tokens } = parseArgs({
    args: [...argv],
    options: options as Record<string, { type: 'boolean' | 'string'; multiple: true }>,
    allowPositionals: true,
    strict: false,
    tokens: true,
  });
  const switches = new Set<string>();
  const values = new Map<string, string[]>();
  const positionals: string[] = [];
  for (const token of tokens) {
    if (token.kind === 'positional') positionals.push(token.value);
    if (token.kind !== 'option') continue;
    const flag = flags.find(({ name }) => name === token.name);
    if (flag === undefined) throw unknownFlag(token.rawName, flags);
    if (flag.value === undefined) switches.add(withoutValue(flag, token.value));
    else add(values, flag, valueIn(token));
  }
  return { switches, values, positionals };
}

/** What matters of an option as the parser found it. */
interface Token {
  readonly rawName: string;
  readonly value?: string | undefined;
  readonly inlineValue?: boolean | undefined;
}

/** `-f=FILE` is `-f FILE`, as kubectl has it; the parser takes the sign for the beginning of the value. */
function valueIn({ rawName, value, inlineValue }: Token): string | undefined {
  return inlineValue === true && !rawName.startsWith('--') ? value?.replace(/^=/, '') : value;
}

function withoutValue({ name }: Flag, value: string | undefined): string {
  if (value !== undefined) throw new CliError(`--${name} takes no value`);
  return name;
}

function add(values: Map<string, string[]>, flag: Flag, value: string | undefined): void {
  // `--bundle --trust-domain x`: what looks like the next flag is not this one's value.
  if (value === undefined || value === '' || value.startsWith('--'))
    throw new CliError(`--${flag.name} needs a value: --${flag.name} ${flag.value}`);
  const given = values.get(flag.name) ?? [];
  if (given.length > 0 && flag.multiple !== true) throw new CliError(`--${flag.name} can be given once only`);
  values.set(flag.name, [...given, value]);
}

function unknownFlag(given: string, flags: readonly Flag[]): CliError {
  const close = suggestion(
    given.replace(/^-+/, ''),
    flags.map(({ name }) => name),
  );
  return new CliError(`unknown flag ${given}${close === undefined ? '' : `; did you mean --${close}?`}`);
}

/** The last value of a flag. */
export function valueOf({ values }: Arguments, name: string): string | undefined {
  return values.get(name)?.at(-1);
}

/** Flags as lines of a help text. */
export function flagLines(flags: readonly Flag[]): readonly string[] {
  const names = flags.map(({ name, short, value }) => {
    const long = `--${name}${value === undefined ? '' : ` ${value}`}`;
    return short === undefined ? `    ${long}` : `-${short}, ${long}`;
  });
  const width = Math.max(...names.map(({ length }) => length));
  return flags.map(({ help }, at) => `  ${(names[at] ?? '').padEnd(width)}  ${help}`);
}
