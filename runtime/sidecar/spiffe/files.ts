/** The SVID as files for an application: a set that is changed as a whole, by swapping one link as the kubelet does with a ConfigMap. */

import { chmod, mkdtemp, readdir, readFile, readlink, rename, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { pemCertificates } from '../../signature/pem.ts';

/** The names that spiffe-helper's users know. */
export const svidFileNames = Object.freeze({
  chain: 'svid.pem',
  key: 'svid_key.pem',
  /** The roots of the own trust domain alone: those of others in the same file would be trusted for every name. */
  bundle: 'svid_bundle.pem',
  token: 'jwt_svid.token',
});

export type SvidFileName = keyof typeof svidFileNames;

/** The text of each file; a name left out is a file that shall not be there. */
export type SvidFiles = Readonly<Partial<Record<SvidFileName, string>>>;

const current = '..data';
const versionPrefix = '..svid-';
const setGroupId = 0o2000;

/**
 * Puts `files` in the place of what is there. Their names are links into the folder of one version, `..data` leads to it, and that link is what
 * changes: whoever resolves `..data` once reads files that belong together. The version before stays until the next one, for those who did.
 *
 * Modes: certificates and bundle 0644. The key and the token are 0640 where the folder passes its group on, as it does in a pod with `fsGroup`:
 * every container of the pod is in that group. Elsewhere they are 0644: the application runs under another user, and no group could be named
 * that it is in. Who reads them is decided by who mounts the folder, which is in memory and the pod's own.
 */
export async function writeSvidFiles(directory: string, files: SvidFiles): Promise<void> {
  const secretMode = ((await stat(directory)).mode & setGroupId) === 0 ? 0o644 : 0o640;
  await removeVersions(directory, await linkTarget(join(directory, current)));
  const folder = await mkdtemp(join(directory, versionPrefix));
  for (const [name, text] of entriesOf(files)) {
    const path = join(folder, svidFileNames[name]);
    await writeFile(path, text, { flag: 'wx', mode: 0o600 });
    await chmod(path, name === 'key' || name === 'token' ? secretMode : 0o644);
  }
  await chmod(folder, 0o755);
  const version = basename(folder);
  await link(directory, current, version);
  for (const name of namesOf(svidFileNames)) {
    const file = svidFileNames[name];
    if (files[name] === undefined) await rm(join(directory, file), { force: true });
    else await link(directory, file, join(current, file));
  }
}

/** Removes every file of the set and every version: what is no longer good must not be taken for it. */
export async function clearSvidFiles(directory: string): Promise<void> {
  for (const file of [...Object.values(svidFileNames), current]) await rm(join(directory, file), { force: true });
  await removeVersions(directory, undefined);
}

/** When what is there ends, milliseconds since 1970; undefined: nothing is there. What cannot be read has ended long ago. */
export async function endOfSvidFiles(directory: string): Promise<number | undefined> {
  if ((await linkTarget(join(directory, current))) === undefined) return undefined;
  const chain = await readFile(join(directory, current, svidFileNames.chain), 'utf8').catch(() => '');
  const { certificates } = pemCertificates(chain);
  return certificates.length === 0 ? 0 : Math.min(...certificates.map(({ notAfter }) => notAfter));
}

/** In one step, whether or not there is such a link. */
async function link(directory: string, name: string, target: string): Promise<void> {
  const path = join(directory, name);
  if ((await linkTarget(path)) === target) return;
  const made = join(directory, `${versionPrefix}link`);
  await rm(made, { force: true });
  await symlink(target, made);
  await rename(made, path);
}

async function linkTarget(path: string): Promise<string | undefined> {
  try {
    return await readlink(path);
  } catch (error) {
    // EINVAL: something else has the name; a rename replaces a file.
    if (['ENOENT', 'EINVAL'].includes(codeOf(error))) return undefined;
    throw error;
  }
}

/** Also of those that a failure left half written: they would fill the folder. */
async function removeVersions(directory: string, kept: string | undefined): Promise<void> {
  const names = await readdir(directory);
  const old = names.filter((name) => name.startsWith(versionPrefix) && name !== kept);
  for (const name of old) await rm(join(directory, name), { recursive: true, force: true });
}

function namesOf<K extends string>(table: Readonly<Record<K, string>>): readonly K[] {
  return Object.keys(table) as K[];
}

function entriesOf(files: SvidFiles): readonly (readonly [SvidFileName, string])[] {
  return namesOf(svidFileNames).flatMap((name) => {
    const text = files[name];
    return text === undefined ? [] : [[name, text] as const];
  });
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}
