/** Whether an image is pinned by digest. */

import { shown } from '../runtime/config/problem.ts';

const byDigest = /^[^\s@]+@sha256:[0-9a-f]{64}$/;

/** Why an image is not pinned, with the remedy; undefined when it is, or when there is none. `who` requires it. */
export function pinningProblem(image: string | undefined, who: string, repository: string): string | undefined {
  if (image === undefined || byDigest.test(image)) return undefined;
  return `${shown(image)} is not pinned by digest, which ${who} requires; use ${repository}@sha256:<64 hex digits>`;
}
