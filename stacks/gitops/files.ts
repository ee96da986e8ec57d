/** A whole output folder for GitOps tools: the tree in a folder of its own, since it is applied as a whole, and one for each tool. */

import { type Manifest, treeOf, type TreeFile } from '../tree.ts';
import type { Wanted } from './flags.ts';
import { treeFolder } from './target.ts';

/** `manifests/…` and, as asked for, `argocd/…` and `flux/…`. */
export function gitOpsFiles(manifests: readonly Manifest[], { writers, gitOps }: Wanted): readonly TreeFile[] {
  const tree = treeOf(manifests).map(({ path, text }) => ({ path: `${treeFolder}/${path}`, text }));
  return [...tree, ...writers.flatMap((write) => write(manifests, gitOps))];
}
