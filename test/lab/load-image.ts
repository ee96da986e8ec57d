// Loads an image archive into a lab's node.
import { existsSync } from 'node:fs';
import { noSuchLab } from './chosen-lab.ts';
import { LabError } from './lab-error.ts';
import { labDir } from './locations.ts';
import { importImage } from './node/images.ts';
import { existingLabs, isUp, readState } from './state.ts';

/** Imports a docker-archive; false when the same bytes were loaded before. */
export async function loadImage(labName: string, archive: string): Promise<boolean> {
  if (!existsSync(archive)) throw new LabError(`There is no image archive ${archive}.`);
  const state = readState(labName);
  if (state === undefined) throw new LabError(noSuchLab(labName, existingLabs(), 'load FILE.tar'));
  if (!isUp(state)) throw new LabError(`The lab "${labName}" is not up.`);
  if (state.kind !== 'node' || state.init === undefined) {
    throw new LabError(`The lab "${labName}" has no node to load images into.`);
  }
  return importImage({ init: state.init }, { archive, labDir: labDir(labName) });
}
