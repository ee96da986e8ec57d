// Makes sure the programs a node consists of are installed, through Debian's packages where there are some.
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { exclusively } from '../exclusive.ts';
import { LabError } from '../lab-error.ts';
import { type Report, timed } from '../progress.ts';
import { runCommand } from '../run-command.ts';

interface NodeProgram {
  /** Looked up on the PATH, or an absolute path of which one must exist. */
  readonly anyOf: readonly string[];
  readonly debianPackage: string;
}

const program = (name: string, debianPackage: string = name): NodeProgram => ({ anyOf: [name], debianPackage });

/** Folders distributions put the CNI plugins in. */
const cniPluginDirs = ['/usr/lib/cni', '/opt/cni/bin', '/usr/libexec/cni'];

const nodePrograms: readonly NodeProgram[] = [
  program('containerd'),
  program('runc'),
  { anyOf: cniPluginDirs.map((dir) => join(dir, 'ptp')), debianPackage: 'containernetworking-plugins' },
  program('iptables'),
  program('conntrack'),
  program('nft', 'nftables'),
  program('socat'),
  program('ip', 'iproute2'),
  program('unshare', 'util-linux'),
  program('mount'),
];

/** Installs the missing packages with apt-get, for one process at a time; elsewhere than on Debian says which programs to install. */
export async function ensureNodePackages(report: Report): Promise<void> {
  if (missingPackages().length === 0) return;
  const waiting = () => report('waiting for another process that installs packages');
  await exclusively('packages of a node', waiting, () => install(missingPackages(), report));
}

function missingPackages(): readonly string[] {
  return nodePrograms.filter(({ anyOf }) => !anyOf.some(isInstalled)).map(({ debianPackage }) => debianPackage);
}

async function install(packages: readonly string[], report: Report): Promise<void> {
  if (packages.length === 0) return;
  if (!isInstalled('apt-get')) {
    throw new LabError(
      `A node needs ${packages.join(', ')}, which are not installed. ` +
        'Install them, or start the lab with --control-plane-only.',
    );
  }
  await timed(report, `installing ${packages.join(' ')}`, async () => {
    await runCommand('apt-get', ['update', '-q']);
    await runCommand('apt-get', ['install', '-q', '-y', '--no-install-recommends', ...packages], {
      env: { DEBIAN_FRONTEND: 'noninteractive' },
    });
  });
}

/** The folder of the CNI plugins. */
export function findCniPluginDir(): string {
  const dir = cniPluginDirs.find((candidate) => existsSync(join(candidate, 'ptp')));
  if (dir === undefined) throw new LabError(`the CNI plugin ptp is in none of ${cniPluginDirs.join(', ')}`);
  return dir;
}

function isInstalled(name: string): boolean {
  const path = process.env['PATH'] ?? '';
  const folders = name.startsWith('/') ? [''] : [...path.split(delimiter), '/usr/sbin', '/sbin'];
  return folders.some((folder) => existsSync(join(folder, name)));
}
