// Runs a program to its end and returns what it printed, or throws with its last words.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { LabError } from './lab-error.ts';

const execute = promisify(execFile);

export interface CommandOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly timeoutMs?: number;
}

/** Runs `program` without a shell and returns its standard output; throws a LabError when it fails. */
export async function runCommand(
  program: string,
  parameters: readonly string[],
  options: CommandOptions = {},
): Promise<string> {
  try {
    const { stdout } = await execute(program, [...parameters], {
      ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
      env: { ...process.env, ...options.env },
      maxBuffer: 256 * 1024 * 1024,
      timeout: options.timeoutMs ?? 0,
    });
    return stdout;
  } catch (cause) {
    throw new LabError(`${program} ${parameters.join(' ')} failed: ${lastWords(cause)}`, { cause });
  }
}

function lastWords(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause);
  if ('code' in cause && cause.code === 'ENOENT') return 'the program is not installed';
  const stderr = 'stderr' in cause ? String(cause.stderr).trim() : '';
  return stderr === '' ? cause.message : stderr.split('\n').slice(-20).join('\n');
}
