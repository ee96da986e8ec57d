/** Whether images are pinned by digest. */

import { compiledDefaults, type PartialConfig } from '../runtime/config/platform.ts';
import { shown } from '../runtime/config/problem.ts';
import type { Violation } from '../runtime/config/violation.ts';

const byDigest = /^[^\s@]+@sha256:[0-9a-f]{64}$/;

/** Why an image is not pinned, with its own repository in the remedy; undefined when it is, or when there is none. `who` requires it. */
export function pinningProblem(image: string | undefined, who: string): string | undefined {
  if (image === undefined || byDigest.test(image)) return undefined;
  const repository = image.replace(/(:[^/:@]*)?(@.*)?$/, '');
  return `${shown(image)} is not pinned by digest, which ${who} requires; use ${repository}@sha256:<64 hex digits>`;
}

const { pullPolicy: _, ...builtIn } = compiledDefaults.images;

/** The images of what the platform injects that are not pinned, by paths below its section. One that is not set is the built-in one, a tag. */
export function injectedImageViolations({ images = {} }: PartialConfig, who: string): readonly Violation[] {
  const effective = { ...builtIn, ...images };
  return Object.keys(builtIn).flatMap((name) => {
    const image = effective[name as keyof typeof builtIn];
    const problem = pinningProblem(image, who);
    if (problem === undefined) return [];
    const message = Object.hasOwn(images, name) ? problem : `is not set, and the built-in ${problem}`;
    return [{ path: `config.images.${name}`, message }];
  });
}
