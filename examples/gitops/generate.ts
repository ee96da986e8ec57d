/** Writes `clusters/` of this repository, one folder for the platform and one for the team in each cluster: `node examples/gitops/generate.ts [DIR]`. */

import path from 'node:path';
import type { App } from 'cdk8s';
import { buildApp } from '../../stacks/app.ts';
import { readSettings } from '../../stacks/environments.ts';
import { gitOpsFiles } from '../../stacks/gitops/files.ts';
import { gitOpsOf } from '../../stacks/gitops/flags.ts';
import { manifestsOf } from '../../stacks/tree.ts';
import { type Written, writeTree } from '../../stacks/write-tree.ts';
import { choices, teamApp } from './agents.ts';

const repo = 'https://git.example/platform/ops.git';

/** The operator's image where the settings ask for a digest: each release of the platform is a change of this line. */
const image = `ghcr.io/rossoctl/rossoctl@sha256:${'a0'.repeat(32)}`;

/** Folder below `clusters/` → the app that it is made of. */
const apps: Readonly<Record<string, () => App>> = {
  'dev/platform': () => buildApp(readSettings('dev')),
  'dev/weather': () => teamApp(choices.dev),
  'production/platform': () => buildApp(readSettings('production', { image })),
  'production/weather': () => teamApp(choices.production),
};

/** Writes every folder below `dir`; files that are no longer wanted are removed. Throws what the constructs and the settings refuse. */
export function generate(dir: string): ReadonlyMap<string, Written> {
  return new Map(
    Object.entries(apps).map(([folder, app]) => {
      const wanted = gitOpsOf(folder.replace('/', '-'), { gitops: ['argocd'], repo, path: `clusters/${folder}` });
      if (wanted === undefined) throw new Error('no tool is named');
      return [folder, writeTree(path.join(dir, folder), gitOpsFiles(manifestsOf(app()), wanted))] as const;
    }),
  );
}

if (import.meta.main) {
  const dir = path.resolve(process.argv[2] ?? path.join(import.meta.dirname, 'clusters'));
  for (const [folder, { files, changed, removed }] of generate(dir)) {
    process.stdout.write(`${folder}: ${files} files (${changed} changed, ${removed} removed)\n`);
  }
}
