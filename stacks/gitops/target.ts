/** Where a GitOps tool finds a tree, and what its objects are called. */

/** A tree in a Git repository. */
export interface GitOps {
  readonly environment: string;
  /** URL of the repository. */
  readonly repo: string;
  /** Branch, `refs/…`, or the 40 digits of a commit. */
  readonly revision: string;
  /** Folder of the repository that holds the output, `''` for its root. */
  readonly path: string;
  /** Secret in Flux's namespace with the repository's credentials. */
  readonly secret?: string;
}

/** Folder of the tree, beside one for each tool. */
export const treeFolder = 'manifests';

/** Name of what a tool is given: the environment's own, so that one tool can serve several. */
export function nameOf({ environment }: GitOps): string {
  return `rossoctl-${environment}`;
}

/** Path of the tree in the repository. */
export function treePath({ path }: GitOps): string {
  return path === '' ? treeFolder : `${path}/${treeFolder}`;
}

/** Kinds that no tool takes away, whatever becomes of Git, since all that is in them would go too. Definitions say it themselves. */
export const keptKinds: readonly string[] = ['Namespace'];
