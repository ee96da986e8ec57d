/** An image that holds busybox, some files and one shell command. */

import path from 'node:path';
import { writeDockerArchive } from '../../scripts/docker-archive.ts';

export interface BusyboxImage {
  readonly tag: string;
  /** A shell command; arguments of the container are `$0`, `$1` and so on. */
  readonly command: string;
  /** By their paths in the image. */
  readonly files: Readonly<Record<string, string>>;
}

const programs = ['sh', 'httpd', 'echo', 'cp', 'cat', 'mv', 'timeout', 'wget'];

/** Writes the archive into `folder` from a static busybox; returns its path. */
export function writeBusyboxImage(busybox: string, folder: string, { tag, command, files }: BusyboxImage): string {
  const file = path.join(folder, `${tag.replaceAll(/[/:]/g, '_')}.tar`);
  writeDockerArchive({
    file,
    tag,
    entries: [
      { path: 'bin/busybox', mode: 0o755, source: busybox },
      ...programs.map((name) => ({ path: `bin/${name}`, link: 'busybox' })),
      ...Object.entries(files).map(([name, content]) => ({ path: name, content })),
    ],
    config: { Entrypoint: ['/bin/sh', '-c', command], Env: ['PATH=/bin'], User: '65532:65532' },
  });
  return file;
}
