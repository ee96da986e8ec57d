/** Writes a container image as a docker-archive tar, byte for byte the same for the same content. */

import { createHash } from 'node:crypto';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { posix } from 'node:path';
import { type TarEntry, tar } from './tar.ts';

/** A file, symbolic link or folder of an image. Parent folders are added with mode 0755. */
export interface ImageEntry {
  /** Absolute or relative to the image's root. */
  readonly path: string;
  /** Permission bits; default 0644 (0755 for a folder, which has no content, source or link). */
  readonly mode?: number;
  readonly content?: string | Uint8Array;
  /** A file to read the content from. */
  readonly source?: string;
  /** Default 0. */
  readonly uid?: number;
  /** Default 0. */
  readonly gid?: number;
  /** The target of a symbolic link. */
  readonly link?: string;
}

/** How a container of the image starts, in the terms of the OCI image configuration. */
export interface ImageConfig {
  readonly Entrypoint?: readonly string[];
  readonly Cmd?: readonly string[];
  readonly Env?: readonly string[];
  readonly User?: string;
  readonly WorkingDir?: string;
  readonly Labels?: Readonly<Record<string, string>>;
  readonly ExposedPorts?: Readonly<Record<string, Readonly<Record<string, never>>>>;
}

export interface DockerArchive {
  /** The file to write. */
  readonly file: string;
  /** The image's name with its tag. */
  readonly tag: string;
  readonly entries: readonly ImageEntry[];
  readonly config: ImageConfig;
  /** Go's name of the processor; default that of this machine. */
  readonly architecture?: 'amd64' | 'arm64';
}

/** Writes the image of one layer and returns its id (the digest of its configuration). */
export function writeDockerArchive(archive: DockerArchive): string {
  const layer = tar(layerEntries(archive.entries));
  const layerDigest = sha256(layer);
  const configuration = JSON.stringify({
    architecture: archive.architecture ?? hostArchitecture(),
    os: 'linux',
    config: archive.config,
    rootfs: { type: 'layers', diff_ids: [`sha256:${layerDigest}`] },
    history: [{ created_by: 'docker-archive', created: '1970-01-01T00:00:00Z' }],
    created: '1970-01-01T00:00:00Z',
  });
  const id = sha256(configuration);
  const manifest = [{ Config: `${id}.json`, RepoTags: [archive.tag], Layers: [`${layerDigest}/layer.tar`] }];
  const outer = tar([
    { path: `${id}.json`, type: 'file', mode: 0o644, content: Buffer.from(configuration) },
    { path: `${layerDigest}/layer.tar`, type: 'file', mode: 0o644, content: layer },
    { path: 'manifest.json', type: 'file', mode: 0o644, content: Buffer.from(JSON.stringify(manifest)) },
  ]);
  writeFileSync(`${archive.file}.partial`, outer);
  renameSync(`${archive.file}.partial`, archive.file);
  return `sha256:${id}`;
}

function layerEntries(entries: readonly ImageEntry[]): readonly TarEntry[] {
  const byPath = new Map<string, TarEntry>();
  for (const entry of entries) {
    const path = posix.normalize(entry.path).replace(/^\/+|\/+$/g, '');
    for (let parent = posix.dirname(path); parent !== '.'; parent = posix.dirname(parent)) {
      if (!byPath.has(parent)) byPath.set(parent, { path: parent, type: 'directory', mode: 0o755 });
    }
    byPath.set(path, tarEntry(path, entry));
  }
  return [...byPath.values()].toSorted((a, b) => Buffer.compare(Buffer.from(a.path), Buffer.from(b.path)));
}

function tarEntry(path: string, { mode, content, source, link, uid = 0, gid = 0 }: ImageEntry): TarEntry {
  if (link !== undefined) return { path, type: 'symlink', mode: 0o777, link, uid, gid };
  if (content === undefined && source === undefined) return { path, type: 'directory', mode: mode ?? 0o755, uid, gid };
  const bytes = source === undefined ? Buffer.from(content ?? '') : readFileSync(source);
  return { path, type: 'file', mode: mode ?? 0o644, content: bytes, uid, gid };
}

function hostArchitecture(): string {
  return process.arch === 'x64' ? 'amd64' : process.arch;
}

function sha256(bytes: string | Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
