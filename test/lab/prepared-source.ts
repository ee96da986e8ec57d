// Makes the folder a Go module is built in: the committed one, or a copy with what is made from its library.
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type GoModuleName, pulumiKubernetesVersion } from './binaries.ts';
import { LabError } from './lab-error.ts';
import { goModulesDir } from './locations.ts';
import { runCommand } from './run-command.ts';

interface Change {
  /** The library that is replaced by a changed copy, or that something is made from. */
  readonly library: string;
  /** Changes the copy; `workDir` holds the module's committed files. */
  readonly change?: (copyDir: string, workDir: string) => void;
  /** Makes files in `workDir` from the library as it is. */
  readonly make?: (libraryDir: string, workDir: string) => void;
}

const changes: Partial<Record<GoModuleName, Change>> = {
  'network-policies': { library: 'github.com/google/nftables', change: replaceQueue },
  spire: { library: 'github.com/spiffe/spire', change: leaveOutPlugins },
  'pulumi-kubernetes': { library: 'github.com/pulumi/pulumi-kubernetes/provider/v4', make: embedded },
};

/** The folder to build `module` in. A changed library is copied into `workDir`, which is made anew. */
export async function prepareSource(module: GoModuleName, workDir: string): Promise<string> {
  const committedDir = join(goModulesDir, module);
  const changed = changes[module];
  if (changed === undefined) return committedDir;
  rmSync(workDir, { recursive: true, force: true });
  mkdirSync(workDir, { recursive: true });
  cpSync(committedDir, workDir, { recursive: true });
  const library = await libraryDir(changed.library, workDir);
  changed.make?.(library, workDir);
  if (changed.change === undefined) return workDir;
  const copyDir = join(workDir, 'library');
  await runCommand('cp', ['-r', '--no-preserve=mode', library, copyDir]);
  changed.change(copyDir, workDir);
  await runCommand('go', ['mod', 'edit', '-replace', `${changed.library}=./library`], { cwd: workDir });
  return workDir;
}

async function libraryDir(library: string, workDir: string): Promise<string> {
  const told = await runCommand('go', ['mod', 'download', '-json', library], { cwd: workDir });
  const dir = told.match(/"Dir": "(.*)"/)?.[1];
  if (dir === undefined) throw new LabError(`go mod download did not say where ${library} is`);
  return dir;
}

// The library's own encoding of "hand this packet to user space" needs a kernel option many kernels lack. In the
// copy its method is renamed, and the lab's own encoding is put beside it.
function replaceQueue(copyDir: string, workDir: string): void {
  const queueFile = join(copyDir, 'expr', 'queue.go');
  const original = readFileSync(queueFile, 'utf8');
  const renamed = original.replace('func (e *Queue) marshal(', 'func (e *Queue) marshalAsQueue(');
  if (renamed === original) throw new LabError('nftables changed: expr/queue.go has no (*Queue).marshal to replace');
  writeFileSync(queueFile, renamed);
  cpSync(join(workDir, '_patch', 'queue_target.go'), join(copyDir, 'expr', 'queue_target.go'));
}

// The provider embeds two files that its release makes of these two: its schema, with the release in it, and a mapping.
function embedded(libraryDir: string, workDir: string): void {
  const from = join(libraryDir, 'cmd', 'pulumi-resource-kubernetes');
  const read = (file: string) => JSON.parse(readFileSync(join(from, file), 'utf8')) as Record<string, unknown>;
  const write = (file: string, value: object) => writeFileSync(join(workDir, 'gen', file), JSON.stringify(value));
  mkdirSync(join(workDir, 'gen'), { recursive: true });
  write('schema-embed.json', { ...read('schema.json'), version: pulumiKubernetesVersion });
  write('terraform-mapping-embed.json', read('terraform-mapping.json'));
}

// Plugins for clouds and for image signatures bring most of what SPIRE is compiled from. Its catalogs name each
// plugin on two lines, an import and a call; without them the plugin is not built, and all else is unchanged.
function leaveOutPlugins(copyDir: string, workDir: string): void {
  const leftOut = JSON.parse(readFileSync(join(workDir, 'left-out.json'), 'utf8')) as Record<string, string[]>;
  for (const [side, plugins] of Object.entries(leftOut)) {
    const catalogDir = join(copyDir, 'pkg', side, 'catalog');
    const files = readdirSync(catalogDir).map((file) => join(catalogDir, file));
    const removed = files.reduce((count, file) => count + removePlugins(file, plugins), 0);
    if (removed !== 2 * plugins.length) {
      throw new LabError(
        `SPIRE changed: the ${side}'s catalogs name ${removed / 2} of ${plugins.length} plugins to leave out`,
      );
    }
  }
}

function removePlugins(file: string, plugins: readonly string[]): number {
  const lines = readFileSync(file, 'utf8').split('\n');
  const names = plugins.join('|');
  const mention = new RegExp(`^\\s*("[\\w./-]+/plugin/\\w+/(${names})"|(${names})\\.BuiltIn\\(\\),)$`);
  const kept = lines.filter((line) => !mention.test(line));
  if (kept.length < lines.length) writeFileSync(file, kept.join('\n'));
  return lines.length - kept.length;
}
