/** The agent's OAuth client as files of the volume that the proxy reads it from. */

import { readFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { credentialFiles } from '../outbound/credentials.ts';

/**
 * Writes both, each as a whole; true when something changed. The secret comes first: a client counts from the moment its id is there. Only the user
 * of the sidecars reads them.
 */
export async function writeCredentials(
  directory: string,
  { id, secret }: { readonly id: string; readonly secret: string },
): Promise<boolean> {
  const isNew = await writeWhole(path.join(directory, credentialFiles.secret), secret);
  return (await writeWhole(path.join(directory, credentialFiles.id), id)) || isNew;
}

async function writeWhole(file: string, text: string): Promise<boolean> {
  if ((await readFile(file, 'utf8').catch(() => undefined)) === text) return false;
  await writeFile(`${file}.new`, text, { mode: 0o600 });
  await rename(`${file}.new`, file);
  return true;
}
