/** Makes the operator image without a container engine and without a registry: `npm run image`. */

import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, realpathSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { bundle } from './bundle.ts';
import { parseCommandLine } from './command-line.ts';
import { type ImageEntry, writeDockerArchive } from './docker-archive.ts';

const root = path.resolve(import.meta.dirname, '..');

const usage = `usage: npm run image -- [--tag NAME:TAG] [--out FILE]

Bundles the operator and writes an image archive for containerd, podman or docker:
  ctr -n k8s.io images import FILE     docker load -i FILE     npm run lab -- load FILE

  --tag   image name (default lab.local/rossoctl:dev)
  --out   archive to write (default dist/rossoctl-image.tar)
Where a container engine and a registry are at hand, build Containerfile instead.
`;

/** Small enough for 500 agents with room to spare; the young generation kept small saves 30 MB under load. */
const nodeFlags = ['--max-semi-space-size=2', '--max-old-space-size=160'];

/** The Node binary of this checkout and every shared library it loads, at the paths the loader looks at. */
export function nodeEntries(node = process.execPath): readonly ImageEntry[] {
  if (process.platform !== 'linux')
    throw new Error('the image holds a Linux Node: run this on Linux, or build Containerfile with a container engine');
  const listed = execFileSync('ldd', [node], { encoding: 'utf8' });
  const libraries = [...listed.matchAll(/(?:=> )?(\/\S+) \(0x/g)].flatMap((match) =>
    match[1] === undefined ? [] : [match[1]],
  );
  if (libraries.length === 0) throw new Error(`ldd lists no library of ${node}`);
  return [
    { path: 'usr/bin/node', mode: 0o755, source: node },
    ...libraries.map((library) => ({ path: library.slice(1), mode: 0o755, source: realpathSync(library) })),
  ];
}

/** Builds the image archive, unless `out` was made from the same program, Node and tag. Deterministic for the same sources and the same Node. */
export async function buildImage(options: {
  readonly tag: string;
  readonly out: string;
}): Promise<{ readonly file: string; readonly bytes: number }> {
  const program = await bundle('runtime/operator/main.ts', path.join(root, 'dist/operator.mjs'));
  mkdirSync(path.dirname(options.out), { recursive: true });
  const madeFrom = `${options.out}.made-from`;
  const key = keyOf(program.file, options.tag);
  if (!existsSync(options.out) || !existsSync(madeFrom) || readFileSync(madeFrom, 'utf8') !== key) {
    writeArchive(program.file, options);
    writeFileSync(madeFrom, key);
  }
  return { file: options.out, bytes: statSync(options.out).size };
}

function keyOf(program: string, tag: string): string {
  const { size, mtimeMs } = statSync(process.execPath);
  const script = readFileSync(import.meta.filename);
  const parts = [readFileSync(program), script, `${tag} ${process.version} ${size} ${mtimeMs}`];
  return parts.reduce((hash, part) => hash.update(part), createHash('sha256')).digest('hex');
}

function writeArchive(program: string, { tag, out }: { readonly tag: string; readonly out: string }): void {
  writeDockerArchive({
    file: out,
    tag,
    entries: [
      ...nodeEntries(),
      { path: 'app/operator.mjs', mode: 0o644, source: program },
      { path: 'etc/passwd', mode: 0o644, content: 'rossoctl:x:65532:65532::/app:/sbin/nologin\n' },
      { path: 'etc/group', mode: 0o644, content: 'rossoctl:x:65532:\n' },
    ],
    config: {
      Entrypoint: ['/usr/bin/node', ...nodeFlags, '/app/operator.mjs'],
      Env: ['NODE_ENV=production'],
      User: '65532:65532',
      WorkingDir: '/app',
    },
  });
}

if (import.meta.main) {
  const values = parseCommandLine(usage, {
    tag: { type: 'string', default: 'lab.local/rossoctl:dev' },
    out: { type: 'string', default: path.join(root, 'dist/rossoctl-image.tar') },
  });
  const started = performance.now();
  const made = await buildImage({ tag: values.tag, out: path.resolve(values.out) });
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  process.stdout.write(
    `${path.relative(process.cwd(), made.file)}: ${values.tag}, ${(made.bytes / 2 ** 20).toFixed(0)} MiB, ${seconds} s\n`,
  );
}
