/** Makes the images without a container engine and without a registry: `npm run image`. */

import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { bundle } from './bundle.ts';
import { parseCommandLine } from './command-line.ts';
import { type ImageConfig, type ImageEntry, writeDockerArchive } from './docker-archive.ts';
import { ensureEnvoy, envoyVersion } from './envoy.ts';
import { iptablesEntries, nodeEntries, programEntries } from './image-files.ts';

const root = path.resolve(import.meta.dirname, '..');

const usage = `usage: npm run image -- [--image operator|sidecar] [--tag NAME:TAG] [--out FILE]

Bundles a program and writes an image archive for containerd, podman or docker:
  ctr -n k8s.io images import FILE     docker load -i FILE     npm run lab -- load FILE

  --image  operator: controllers and webhooks (default); sidecar: all that is injected, with Envoy and iptables
  --tag    image name (default lab.local/rossoctl:dev, or lab.local/rossoctl-sidecar:dev)
  --out    archive to write (default dist/rossoctl-image.tar, or dist/rossoctl-sidecar-image.tar)
Where a container engine and a registry are at hand, build Containerfile or Containerfile.sidecar instead.
`;

export type ImageName = 'operator' | 'sidecar';

interface Recipe {
  readonly tag: string;
  readonly out: string;
  /** The program, relative to the repository. */
  readonly entry: string;
  /** Where it is in the image. */
  readonly program: string;
  /** What else is in the image, besides Node. */
  readonly more: () => Promise<readonly ImageEntry[]>;
  /** Changes whenever what `more` gives does. */
  readonly moreKey: string;
  readonly nodeFlags: readonly string[];
  readonly user: number;
}

const report = (line: string): void => void process.stderr.write(`${line}\n`);

const recipes: Readonly<Record<ImageName, Recipe>> = {
  operator: {
    tag: 'lab.local/rossoctl:dev',
    out: 'dist/rossoctl-image.tar',
    entry: 'runtime/operator/main.ts',
    program: 'operator.mjs',
    more: () => Promise.resolve([]),
    moreKey: '',
    // 160 MiB of the default limit, 256Mi, and more of a higher one; the young generation kept small saves 30 MB under load.
    nodeFlags: ['--max-semi-space-size=2', '--max-old-space-size-percentage=62.5'],
    user: 65_532,
  },
  sidecar: {
    tag: 'lab.local/rossoctl-sidecar:dev',
    out: 'dist/rossoctl-sidecar-image.tar',
    entry: 'runtime/sidecar/main.ts',
    program: 'sidecar.mjs',
    more: async () => [...programEntries(await ensureEnvoy({ report }), 'usr/bin/envoy'), ...iptablesEntries()],
    moreKey: envoyVersion,
    nodeFlags: ['--max-semi-space-size=1', '--max-old-space-size-percentage=31.25'],
    user: 1337,
  },
};

/** Builds an image archive, unless `out` was made from the same program, Node and tag. Deterministic for the same sources and the same Node. */
export async function buildImage(options: {
  readonly image?: ImageName;
  readonly tag: string;
  readonly out: string;
}): Promise<{ readonly file: string; readonly bytes: number }> {
  const recipe = recipes[options.image ?? 'operator'];
  const { file } = await bundle(recipe.entry, path.join(root, 'dist', recipe.program));
  mkdirSync(path.dirname(options.out), { recursive: true });
  const madeFrom = `${options.out}.made-from`;
  const key = keyOf(recipe, file, options.tag);
  if (!existsSync(options.out) || !existsSync(madeFrom) || readFileSync(madeFrom, 'utf8') !== key) {
    writeDockerArchive({
      file: options.out,
      tag: options.tag,
      entries: [...entriesOf(recipe, file), ...(await recipe.more())],
      config: configOf(recipe),
    });
    writeFileSync(madeFrom, key);
  }
  return { file: options.out, bytes: statSync(options.out).size };
}

function keyOf({ moreKey }: Recipe, program: string, tag: string): string {
  const { size, mtimeMs } = statSync(process.execPath);
  const scripts = ['image.ts', 'image-files.ts'].map((name) => readFileSync(path.join(import.meta.dirname, name)));
  const parts = [readFileSync(program), ...scripts, `${tag} ${process.version} ${size} ${mtimeMs} ${moreKey}`];
  return parts.reduce((hash, part) => hash.update(part), createHash('sha256')).digest('hex');
}

function entriesOf({ program, user }: Recipe, file: string): readonly ImageEntry[] {
  return [
    ...nodeEntries(),
    { path: `app/${program}`, mode: 0o644, source: file },
    { path: 'etc/passwd', mode: 0o644, content: `rossoctl:x:${user}:${user}::/app:/sbin/nologin\n` },
    { path: 'etc/group', mode: 0o644, content: `rossoctl:x:${user}:\n` },
  ];
}

function configOf({ program, nodeFlags, user }: Recipe): ImageConfig {
  return {
    Entrypoint: ['/usr/bin/node', ...nodeFlags, `/app/${program}`],
    // One arena of malloc in place of one a thread saves 6 MiB of what would lie about in them.
    Env: ['NODE_ENV=production', 'PATH=/usr/sbin:/usr/bin', 'MALLOC_ARENA_MAX=1'],
    User: `${user}:${user}`,
    WorkingDir: '/app',
  };
}

if (import.meta.main) {
  const values = parseCommandLine(usage, {
    image: { type: 'string', default: 'operator' },
    tag: { type: 'string' },
    out: { type: 'string' },
  });
  const { image } = values;
  if (image !== 'operator' && image !== 'sidecar') {
    process.stderr.write(`--image: ${JSON.stringify(image)} is neither operator nor sidecar\n\n${usage}`);
    process.exit(2);
  }
  const { tag, out } = { ...recipes[image], ...values };
  const started = performance.now();
  const made = await buildImage({ image, tag, out: path.resolve(root, out) });
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  process.stdout.write(
    `${path.relative(process.cwd(), made.file)}: ${tag}, ${(made.bytes / 2 ** 20).toFixed(0)} MiB, ${seconds} s\n`,
  );
}
