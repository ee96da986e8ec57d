/** Writes the fleet as a tree of YAML: `node examples/fleet/main.ts [DIR [TABLE]]`. */

import { readFileSync } from 'node:fs';
import path from 'node:path';
import { manifestsOf, treeOf } from 'rossoctl/stacks/tree';
import { writeTree } from 'rossoctl/stacks/write-tree';
import { fleetApp } from './fleet.ts';

const [dir = 'dist/fleet', table = path.join(import.meta.dirname, 'fleet.csv')] = process.argv.slice(2);

try {
  const app = fleetApp(textOf(table), path.basename(table));
  const { files, changed, removed } = writeTree(dir, treeOf(manifestsOf(app)));
  process.stdout.write(`${dir}: ${files} files (${changed} changed, ${removed} removed)\n`);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}

/** Text of the table. Throws with what to do when it cannot be read. */
function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    const why = error instanceof Error && 'code' in error ? String(error.code) : String(error);
    throw new Error(
      `${file}: the table cannot be read (${why}): node main.ts DIR TABLE takes it as the second argument`,
      {
        cause: error,
      },
    );
  }
}
