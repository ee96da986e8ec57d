// Lists what a lab has left on the host.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { labDir, labKubeconfigPath } from './locations.ts';
import { existingCgroupDirs } from './node/cgroups.ts';
import { hasLink } from './node/network.ts';
import { nodeLayout } from './node/node-layout.ts';
import { processIdentity } from './process-identity.ts';
import { runCommand } from './run-command.ts';

/** Everything of the lab that is on this machine, one line each; empty after `down`. */
export async function leftovers(name: string): Promise<readonly string[]> {
  const dir = labDir(name);
  const files = [dir, labKubeconfigPath(name)].filter(existsSync).map((path) => `file ${path}`);
  if (process.platform !== 'linux') return files;
  const { linkName, cgroupRoot } = nodeLayout(name);
  return [
    ...processesOf(dir, cgroupRoot),
    ...mountsOf(dir),
    ...((await hasLink(linkName)) ? [`link ${linkName}`] : []),
    ...existingCgroupDirs(cgroupRoot).map((path) => `cgroup ${path}`),
    ...files,
  ];
}

// What the lab started names its folder on the command line, has it mounted (in namespaces of its own), or is a pod
// in its cgroup.
function processesOf(dir: string, cgroupRoot: string): readonly string[] {
  const pids = readdirSync('/proc').filter((entry) => /^\d+$/.test(entry) && Number(entry) !== process.pid);
  return pids.flatMap((pid) => {
    const commandLine = readProc(pid, 'cmdline').split('\0');
    const isOfLab =
      commandLine.some((word) => word === dir || word.includes(`${dir}/`)) ||
      readProc(pid, 'mountinfo').includes(`${dir}/`) ||
      readProc(pid, 'cgroup').includes(`:${cgroupRoot}/`);
    if (!isOfLab || processIdentity(Number(pid)) === undefined) return [];
    return [`process ${pid} ${commandLine.join(' ').slice(0, 120)}`];
  });
}

function readProc(pid: string, file: string): string {
  try {
    return readFileSync(join('/proc', pid, file), 'utf8');
  } catch {
    // It ended meanwhile.
    return '';
  }
}

function mountsOf(dir: string): readonly string[] {
  const lines = readFileSync('/proc/self/mounts', 'utf8').split('\n');
  return lines
    .map((line) => line.split(' ')[1] ?? '')
    .filter((path) => path.startsWith(`${dir}/`))
    .map((path) => `mount ${path}`);
}

const watchedSysctls = [
  'net/ipv4/ip_forward',
  'vm/overcommit_memory',
  'vm/panic_on_oom',
  'kernel/panic',
  'kernel/panic_on_oops',
  'kernel/keys/root_maxkeys',
  'kernel/keys/root_maxbytes',
];

const watchedFolders = [
  '/run/netns',
  '/run/containerd',
  '/var/lib/cni',
  '/var/lib/kubelet',
  '/var/log/containers',
  '/var/log/pods',
];

/** What clusters usually change on a host outside their own folders; equal before `up` and after `down`. */
export async function hostFootprint(): Promise<readonly string[]> {
  const sysctls = watchedSysctls
    .map((path) => join('/proc/sys', path))
    .filter(existsSync)
    .map((path) => `${path} = ${readFileSync(path, 'utf8').trim()}`);
  const files = watchedFolders
    .filter(existsSync)
    .flatMap((folder) => [folder, ...readdirSync(folder).map((entry) => join(folder, entry))]);
  return [...sysctls, ...files, ...(await readRules())];
}

async function readRules(): Promise<readonly string[]> {
  const printed = await Promise.all(
    ['iptables-save', 'ip6tables-save'].map(async (program) => {
      try {
        return await runCommand(program, []);
      } catch {
        // Not installed: then nobody has made rules with it.
        return '';
      }
    }),
  );
  return printed
    .flatMap((text) => text.split('\n'))
    .filter((line) => line.startsWith(':') || line.startsWith('-A'))
    .map((line) => line.replace(/ \[\d+:\d+\]$/, ''));
}
