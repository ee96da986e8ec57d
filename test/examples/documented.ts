/** Runs an example as its README says: the commands of the page, in a folder that has the examples and nothing else. */

import { spawnSync } from 'node:child_process';
import { readFileSync, symlinkSync } from 'node:fs';
import path from 'node:path';

const root = path.resolve(import.meta.dirname, '../..');

/** What a command gave. */
export interface Ran {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** The lines of the page's code that start Node. */
export function documentedCommands(example: string): readonly string[] {
  const page = readFileSync(path.join(root, 'examples', example, 'README.md'), 'utf8');
  return page.split('\n').filter((line) => line.startsWith('node '));
}

/** Makes `examples/` appear in a folder that exists; what is written beside it stays there. */
export function placeExamples(dir: string): void {
  symlinkSync(path.join(root, 'examples'), path.join(dir, 'examples'));
}

/** Runs a command by the shell, with the Node of the checkout first. */
export function runIn(dir: string, command: string): Ran {
  const PATH = [path.dirname(process.execPath), process.env['PATH']].join(path.delimiter);
  return spawnSync('sh', ['-c', command], { cwd: dir, encoding: 'utf8', env: { ...process.env, PATH } });
}
