/** Writes a tree of files into a folder of its own and removes what an earlier run left there; touches no other folder. */

import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { TreeFile } from './tree.ts';

/** Lists the files of the last run, and while one is under way those of both; a folder without it is somebody else's. */
export const markerName = '.rossoctl-synth';

/** What a run did. */
export interface Written {
  readonly files: number;
  readonly changed: number;
  readonly removed: number;
}

/**
 * Writes `files` below `dir`. Throws when `dir` holds anything but has no marker file. A file with the same text is left as it is.
 * A run that is interrupted leaves a folder that the next one takes for its own, and of which it forgets no file.
 */
export function writeTree(dir: string, files: readonly TreeFile[]): Written {
  const before = filesBefore(dir);
  const wanted = new Set(files.map((file) => file.path));
  writeMarker(dir, new Set([...before, ...wanted]));
  const changed = files.filter(({ path: name, text }) => writeIfChanged(path.join(dir, name), text));
  const stale = before.filter((name) => !wanted.has(name));
  for (const name of stale) remove(dir, name);
  writeMarker(dir, wanted);
  return { files: files.length, changed: changed.length, removed: stale.length };
}

function writeMarker(dir: string, names: ReadonlySet<string>): void {
  const lines = [...names].sort().map((name) => `${name}\n`);
  writeIfChanged(path.join(dir, markerName), lines.join(''));
}

function filesBefore(dir: string): readonly string[] {
  const marker = path.join(dir, markerName);
  if (existsSync(marker)) {
    const lines = readFileSync(marker, 'utf8').split('\n');
    return lines.filter((name) => name !== '' && isBelow(dir, name));
  }
  if (existsSync(dir) && readdirSync(dir).length > 0) {
    throw new Error(`${dir} is not empty and was not written by synth (it has no ${markerName}): choose another --out`);
  }
  mkdirSync(dir, { recursive: true });
  return [];
}

/** A marker file that was edited cannot make us leave the folder. */
function isBelow(dir: string, name: string): boolean {
  const relative = path.relative(dir, path.resolve(dir, name));
  return relative !== '' && !relative.startsWith('..') && !path.isAbsolute(relative);
}

function writeIfChanged(file: string, text: string): boolean {
  if (existsSync(file) && readFileSync(file, 'utf8') === text) return false;
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, text);
  return true;
}

/** Removes a file and the folders it leaves empty. */
function remove(dir: string, name: string): void {
  rmSync(path.join(dir, name), { force: true });
  for (let folder = path.dirname(name); folder !== '.'; folder = path.dirname(folder)) {
    const whole = path.join(dir, folder);
    if (!existsSync(whole)) continue;
    if (readdirSync(whole).length > 0) return;
    rmdirSync(whole);
  }
}
