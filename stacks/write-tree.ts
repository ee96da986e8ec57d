/** Writes a tree of files into a folder of its own and removes what an earlier run left there; touches no other folder. */

import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { TreeFile } from './tree.ts';

/**
 * Says whose tree it is, then lists the files of the last run, and while one is under way those of both; a folder without it is somebody
 * else's.
 */
export const markerName = '.rossoctl-synth';
/** The line that says it; no file is called so. Markers of earlier releases are without. */
const ownerLine = '# tree of ';

/** What a run did. */
export interface Written {
  readonly files: number;
  readonly changed: number;
  readonly removed: number;
}

/**
 * Writes `files` below `dir`. Throws when `dir` is a file, when it holds anything but has no marker file (a repository's own `.git` does not
 * count), when it holds the tree of another than `owner`, an environment for example: its files would go, and when a symbolic link leads out
 * of the tree. Without an owner nobody is another. A file with the same text is left as it is. A run that is interrupted leaves a folder that
 * the next one takes for its own, and of which it forgets no file.
 */
export function writeTree(dir: string, files: readonly TreeFile[], owner?: string): Written {
  const { owner: ownerBefore, names: before } = treeBefore(dir);
  if (owner !== undefined && ownerBefore !== undefined && owner !== ownerBefore) {
    throw new Error(`${dir} holds the tree of ${ownerBefore}: choose another --out, or remove the folder`);
  }
  const wanted = new Set(files.map((file) => file.path));
  refuseLinks(dir, [markerName, ...before, ...wanted]);
  const writeMarker = (names: ReadonlySet<string>) => {
    const lines = [...(owner === undefined ? [] : [`${ownerLine}${owner}`]), ...[...names].sort()];
    writeIfChanged(path.join(dir, markerName), lines.map((line) => `${line}\n`).join(''));
  };
  writeMarker(new Set([...before, ...wanted]));
  const changed = files.filter(({ path: name, text }) => writeIfChanged(path.join(dir, name), text));
  const stale = before.filter((name) => !wanted.has(name));
  for (const name of stale) remove(dir, name);
  writeMarker(wanted);
  return { files: files.length, changed: changed.length, removed: stale.length };
}

interface TreeBefore {
  readonly owner?: string | undefined;
  readonly names: readonly string[];
}

function treeBefore(dir: string): TreeBefore {
  makeFolder(dir);
  const marker = path.join(dir, markerName);
  if (existsSync(marker)) {
    const lines = readFileSync(marker, 'utf8').split('\n');
    const owner = lines.find((line) => line.startsWith(ownerLine))?.slice(ownerLine.length);
    return { owner, names: lines.filter((line) => line !== '' && !line.startsWith(ownerLine) && isBelow(dir, line)) };
  }
  if (readdirSync(dir).some((name) => name !== '.git')) {
    throw new Error(`${dir} is not empty and was not written by synth (it has no ${markerName}): choose another --out`);
  }
  return { names: [] };
}

/** A file in the way, or a right that is missing, is for whoever chose the folder. */
function makeFolder(dir: string): void {
  try {
    mkdirSync(dir, { recursive: true });
  } catch (cause) {
    const { code = '' } = cause as { readonly code?: string };
    const reason = fileInTheWay.includes(code) ? 'a file is in its place or above it' : code;
    throw new Error(`${dir} cannot be made a folder (${reason}): choose another --out`, { cause });
  }
}

const fileInTheWay = ['EEXIST', 'ENOTDIR'];

/** A marker file that was edited cannot make us leave the folder. */
function isBelow(dir: string, name: string): boolean {
  const relative = path.relative(dir, path.resolve(dir, name));
  return relative !== '' && !relative.startsWith('..') && !path.isAbsolute(relative);
}

/** What is written or removed through a link is somewhere else. `dir` itself may be one. */
function refuseLinks(dir: string, names: readonly string[]): void {
  const steps = names.flatMap((name) => name.split('/').map((_, at, all) => all.slice(0, at + 1).join('/')));
  const link = [...new Set(steps)].map((step) => path.join(dir, step)).find(isLink);
  if (link !== undefined) throw new Error(`${link} is a symbolic link, and synth writes through none: remove it`);
}

function isLink(file: string): boolean {
  try {
    return lstatSync(file).isSymbolicLink();
  } catch {
    return false;
  }
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
