/** Synthesizes a team's layer of so many agents to a folder, alone in its process, and prints what it took as JSON. */

import { buildApp } from '../../stacks/app.ts';
import { manifestsOf, treeOf } from '../../stacks/tree.ts';
import { writeTree } from '../../stacks/write-tree.ts';
import { teamOf } from './team.ts';

const [count = '1', out = ''] = process.argv.slice(2);
const began = performance.now();
const files = treeOf(manifestsOf(buildApp({ environment: 'bench', agents: teamOf(Number(count)) })));
writeTree(out, files);
const bytes = files.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0);
const report = {
  synthMs: performance.now() - began,
  wholeMs: performance.now(),
  peakMib: process.resourceUsage().maxRSS / 1024,
  files: files.length,
  bytes,
};
process.stdout.write(JSON.stringify(report));
