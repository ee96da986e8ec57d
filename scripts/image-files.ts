/** Programs of this machine as files of an image: the binary, and every shared library it loads, at the paths the loader looks at. */

import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, realpathSync } from 'node:fs';
import path from 'node:path';
import type { ImageEntry } from './docker-archive.ts';

/** The program at `source`, to be run as `to` (relative to the image's root), with its libraries. */
export function programEntries(source: string, to: string): readonly ImageEntry[] {
  return [{ path: to, mode: 0o755, source }, ...libraryEntries(source)];
}

function libraryEntries(program: string): readonly ImageEntry[] {
  const listed = execFileSync('ldd', [program], { encoding: 'utf8' });
  const libraries = [...listed.matchAll(/(?:=> )?(\/\S+) \(0x/g)].flatMap((match) =>
    match[1] === undefined ? [] : [match[1]],
  );
  if (libraries.length === 0) throw new Error(`ldd lists no library of ${program}`);
  return libraries.map((library) => ({ path: library.slice(1), mode: 0o755, source: realpathSync(library) }));
}

/** The Node binary of this checkout. */
export function nodeEntries(node = process.execPath): readonly ImageEntry[] {
  if (process.platform !== 'linux')
    throw new Error(
      'the image holds a Linux Node: run this on Linux, or build its Containerfile with a container engine',
    );
  return programEntries(node, 'usr/bin/node');
}

const sbin = 'usr/sbin';
const multis = { nft: 'xtables-nft-multi', legacy: 'xtables-legacy-multi' } as const;

/** Both backends of iptables with their extensions, from the Debian package `iptables` of this machine. */
export function iptablesEntries(): readonly ImageEntry[] {
  const missing = Object.values(multis).find((name) => !existsSync(path.join('/', sbin, name)));
  if (missing !== undefined)
    throw new Error(
      `/${sbin}/${missing} is not here: apt-get install iptables, or build Containerfile.sidecar instead`,
    );
  const programs = Object.entries(multis).flatMap(([backend, name]) => [
    ...programEntries(path.join('/', sbin, name), `${sbin}/${name}`),
    ...['iptables', 'ip6tables'].flatMap((family) =>
      ['', '-save', '-restore'].map((verb) => ({ path: `${sbin}/${family}-${backend}${verb}`, link: name })),
    ),
  ]);
  const extensions = extensionsFolder();
  return [
    ...programs,
    ...readdirSync(extensions)
      .filter((name) => name.endsWith('.so'))
      .map((name) => ({
        path: path.join(extensions, name).slice(1),
        mode: 0o644,
        source: realpathSync(path.join(extensions, name)),
      })),
  ];
}

function extensionsFolder(): string {
  const found = readdirSync('/usr/lib')
    .map((name) => path.join('/usr/lib', name, 'xtables'))
    .find((folder) => existsSync(folder));
  if (found === undefined)
    throw new Error("iptables' extensions are not in /usr/lib/*/xtables: apt-get install iptables");
  return found;
}
