/** Flags and environment → frozen settings: the only reader of `process.env` and `argv` in the operator. */

import { hostname } from 'node:os';
import type { Option } from './option-values.ts';
import { type OptionName, options } from './options.ts';
import { skewOf } from './skew.ts';

export type Settings = { readonly [K in OptionName]: (typeof options)[K] extends Option<infer T> ? T : never };

/** A setting that cannot be used; `message` names the flag or variable and what is allowed. */
export class UsageError extends Error {
  readonly code = 'Usage';
}

function nearest(word: string): string | undefined {
  const flags = Object.values(options).map((row) => row.flag);
  return flags.find(
    (flag) => flag.startsWith(word) || word.startsWith(flag) || flag.replaceAll('-', '') === word.replaceAll('-', ''),
  );
}

/** `--flag=value` and `--flag value`; a flag without a value means `true`. */
function flagsOf(argv: readonly string[]): ReadonlyMap<string, string> {
  const known = new Set<string>(Object.values(options).map((row) => row.flag));
  const found = new Map<string, string>();
  for (let index = 0; index < argv.length; index++) {
    const word = argv[index] ?? '';
    const match = /^--([a-z0-9-]+)(?:=(.*))?$/s.exec(word);
    const name = match?.[1] ?? '';
    if (match === null || !known.has(name)) {
      const near = nearest(word.replace(/^-+/, '').split('=')[0] ?? '');
      throw new UsageError(
        `unknown argument ${JSON.stringify(word)}${near === undefined ? '' : `; did you mean --${near}?`} (--help lists all)`,
      );
    }
    const next = argv[index + 1];
    if (match[2] !== undefined) found.set(name, match[2]);
    else if (next !== undefined && !next.startsWith('--')) {
      found.set(name, next);
      index++;
    } else found.set(name, 'true');
  }
  return found;
}

function valueOf<T>(
  row: Option<T>,
  flags: ReadonlyMap<string, string>,
  env: Readonly<Record<string, string | undefined>>,
): T {
  const flag = flags.get(row.flag);
  const fromEnv = row.env === undefined ? undefined : env[row.env];
  const given = flag ?? (fromEnv === '' ? undefined : fromEnv);
  if (given === undefined) return row.default;
  try {
    return row.parse(given);
  } catch (error) {
    const where = flag === undefined ? `environment variable ${row.env}` : `--${row.flag}`;
    throw new UsageError(
      `${where}: ${JSON.stringify(given)}: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}

/**
 * Settings of one process. Throws `UsageError` on an unknown flag, a value that is not allowed, or an instance that watches everything; where the manifests are of another release,
 * which may know more than this one, the message says so.
 */
export function parseSettings(argv: readonly string[], env: Readonly<Record<string, string | undefined>>): Settings {
  try {
    return settingsFrom(argv, env);
  } catch (error) {
    const { sentence } = skewOf(env[options.manifests.env ?? ''] ?? '');
    if (!(error instanceof UsageError) || sentence === undefined) throw error;
    throw new UsageError(`${error.message}; ${sentence}`);
  }
}

function settingsFrom(argv: readonly string[], env: Readonly<Record<string, string | undefined>>): Settings {
  const flags = flagsOf(argv);
  const entries = Object.entries(options).map(([name, row]) => [name, valueOf(row as Option<unknown>, flags, env)]);
  const settings = Object.fromEntries(entries) as Settings;
  if (settings.instance !== '' && settings.namespaces.length === 0) {
    throw new UsageError(
      `--instance: ${JSON.stringify(settings.instance)}: an install beside others watches the namespaces that it is given: set --namespaces A,B,… (NAMESPACES2WATCH)`,
    );
  }
  return Object.freeze({ ...settings, podName: settings.podName || hostname() });
}

/** Text of `--help`. */
export function settingsHelp(): string {
  const rows = Object.values(options).map((row) => {
    const left = `  --${row.flag}${row.placeholder === undefined ? '' : ` ${row.placeholder}`}`;
    const extra = [row.env === undefined ? '' : `env ${row.env}`, `default ${JSON.stringify(row.default)}`]
      .filter(Boolean)
      .join(', ');
    return `${left.padEnd(34)}${row.help} (${extra})`;
  });
  return `usage: rossoctl-operator [--flag value…]\n\n${rows.join('\n')}\n`;
}
