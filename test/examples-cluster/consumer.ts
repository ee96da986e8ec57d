/** A folder of somebody who has the npm package and no checkout, with copies of the examples. */

import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { makePackage } from '../../scripts/package.ts';

const root = path.resolve(import.meta.dirname, '../..');

export interface Consumer {
  readonly folder: string;
  /** Runs `node ARGUMENTS` there and returns what it printed. Throws with what it said when it fails. */
  node(...parameters: readonly string[]): string;
}

/** Makes the package and unpacks it below `dir`, which exists; what the package asks for is linked from the checkout. */
export function makeConsumer(dir: string, examples: readonly string[]): Consumer {
  const { tarball, manifest } = makePackage(path.join(dir, 'made'));
  const folder = path.join(dir, 'consumer');
  const modules = path.join(folder, 'node_modules');
  const asked = ['dependencies', 'peerDependencies'].flatMap((section) => Object.keys(manifest[section] as object));
  for (const name of asked) {
    const link = path.join(modules, name);
    mkdirSync(path.dirname(link), { recursive: true });
    symlinkSync(path.join(root, 'node_modules', name), link);
  }
  execFileSync('tar', ['-xzf', tarball, '-C', modules]);
  renameSync(path.join(modules, 'package'), path.join(modules, 'rossoctl'));
  writeFileSync(path.join(folder, 'package.json'), '{"type":"module"}\n');
  for (const name of examples) cpSync(path.join(root, 'examples', name), path.join(folder, name), { recursive: true });
  return {
    folder,
    node: (...parameters) => {
      const { status, stdout, stderr } = spawnSync(process.execPath, parameters, { cwd: folder, encoding: 'utf8' });
      if (status !== 0) throw new Error(`node ${parameters.join(' ')} ended with ${status}:\n${stdout}${stderr}`);
      return stdout;
    },
  };
}
