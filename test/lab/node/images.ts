// Makes the images the lab itself needs from its own binaries and imports image archives into its containerd.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { closeSync, createReadStream, existsSync, mkdirSync, openSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { writeDockerArchive } from '../../../scripts/docker-archive.ts';
import { type BinaryPaths, pathOf } from '../build.ts';
import { exclusively } from '../exclusive.ts';
import { LabError } from '../lab-error.ts';
import { cacheDir } from '../../../scripts/cache-dir.ts';
import { runCommand } from '../run-command.ts';
import { inside, type Namespaces } from './namespaces.ts';

/** The images every node lab has. */
export const labImages = {
  pause: 'lab.local/pause:1',
  coredns: 'lab.local/coredns:1',
  networkPolicies: 'lab.local/network-policies:1',
  busybox: 'lab.local/busybox:1',
} as const;

/** Writes the archives of the lab's images into the cache folder, once for each build of their binaries. */
export async function ensureLabImages(paths: BinaryPaths, busybox: string): Promise<readonly string[]> {
  const ofBinary = (tag: string, name: 'pause' | 'coredns' | 'network-policies'): Promise<string> => {
    const source = pathOf(paths, name);
    const entries = [{ path: name, mode: 0o755, source }];
    return ensureArchive(join(dirname(source), `${name}.tar`), (file) => {
      writeDockerArchive({ file, tag, entries, config: { Entrypoint: [`/${name}`] } });
    });
  };
  return [
    await ofBinary(labImages.pause, 'pause'),
    await ofBinary(labImages.coredns, 'coredns'),
    await ofBinary(labImages.networkPolicies, 'network-policies'),
    await ensureBusyboxArchive(busybox),
  ];
}

async function ensureBusyboxArchive(busybox: string): Promise<string> {
  const applets = (await runCommand(busybox, ['--list'])).trim().split('\n');
  const links = applets.filter((name) => name !== 'busybox').map((name) => ({ path: `bin/${name}`, link: 'busybox' }));
  return ensureArchive(join(cacheDir(), 'busybox', 'busybox.tar'), (file) => {
    writeDockerArchive({
      file,
      tag: labImages.busybox,
      entries: [
        { path: 'bin/busybox', mode: 0o755, source: busybox },
        ...links,
        { path: 'tmp', mode: 0o1777 },
        { path: 'etc/passwd', content: 'root:x:0:0:root:/:/bin/sh\n' },
        { path: 'etc/group', content: 'root:x:0:\n' },
      ],
      config: { Cmd: ['sh'], Env: ['PATH=/bin'] },
    });
  });
}

async function ensureArchive(file: string, write: (file: string) => void): Promise<string> {
  if (!existsSync(file)) {
    await exclusively(
      `archive ${file}`,
      () => {},
      async () => {
        if (!existsSync(file)) write(file);
      },
    );
  }
  return file;
}

/** Imports an archive into the node's containerd unless the same bytes were imported before; says whether it did. */
export async function importImage(
  namespaces: Pick<Namespaces, 'init'>,
  { archive, labDir }: { readonly archive: string; readonly labDir: string },
): Promise<boolean> {
  const record = join(labDir, 'imported-images', `${basename(archive)}-${await fileDigest(archive)}`);
  if (existsSync(record)) return false;
  await runImport(namespaces, archive);
  mkdirSync(dirname(record), { recursive: true });
  writeFileSync(record, '');
  return true;
}

async function fileDigest(file: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(file), hash);
  return hash.digest('hex').slice(0, 32);
}

// Through standard input, because the archive may lie where the lab's namespaces do not see it.
async function runImport(namespaces: Pick<Namespaces, 'init'>, archive: string): Promise<void> {
  const { program, parameters } = inside(namespaces, 'ctr', ['--namespace=k8s.io', 'images', 'import', '-']);
  const input = openSync(archive, 'r');
  const child = spawn(program, parameters, { stdio: [input, 'ignore', 'pipe'] });
  closeSync(input);
  let errors = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    errors += chunk.toString();
  });
  const [code] = await once(child, 'close');
  if (code !== 0) throw new LabError(`containerd did not import ${archive}: ${errors.trim()}`);
}
