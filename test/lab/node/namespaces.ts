// Makes the network, mount and process namespaces of a node lab and runs programs inside them.
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Component, startComponent, untilReady } from '../component.ts';
import { LabError } from '../lab-error.ts';
import { type ProcessIdentity, processIdentity } from '../process-identity.ts';
import { runCommand } from '../run-command.ts';
import { boundFolders, runtimeDir } from './node-layout.ts';

// Empty inside the lab: what components write to fixed places there ends with the lab.
const hiddenFolders = ['/run', '/var/lib', '/var/log'];

// The kubelet sets these for the whole machine unless they already read so; it is shown files that do.
const kubeletSysctls = {
  'vm/overcommit_memory': '1',
  'vm/panic_on_oom': '0',
  'kernel/panic': '10',
  'kernel/panic_on_oops': '1',
  'kernel/keys/root_maxkeys': '1000000',
  'kernel/keys/root_maxbytes': '25000000',
};

export interface Namespaces {
  /** Outside; ends when `init` ends, and ends it when it ends. */
  readonly keeper: Component;
  /** The first process inside: when it ends the kernel ends every other. */
  readonly init: ProcessIdentity;
}

/** Starts the first process of new namespaces: it only collects ended processes. */
export async function startNamespaces(
  pauseBinary: string,
  {
    dir,
    logPath,
    onStart,
  }: { readonly dir: string; readonly logPath: string; readonly onStart: (keeper: Component) => void },
): Promise<Namespaces> {
  const hiding = hiddenFolders.find((folder) => dir.startsWith(`${folder}/`) || pauseBinary.startsWith(`${folder}/`));
  if (hiding !== undefined) {
    throw new LabError(`A node cannot run from below ${hiding}, which the lab hides; move the project or its cache.`);
  }
  const isolation = ['--net', '--mount', '--pid', '--fork', '--kill-child', '--mount-proc'];
  const keeper = startComponent({
    component: 'namespaces',
    program: 'unshare',
    parameters: [...isolation, pauseBinary, dir],
    logPath,
    cwd: dir,
    endsWith: 'itself',
  });
  onStart(keeper);
  let init: ProcessIdentity | undefined;
  await untilReady(
    keeper,
    async () => {
      init = childOf(keeper);
      return init !== undefined && readFileSync(`/proc/${init.pid}/cmdline`, 'utf8').startsWith(pauseBinary);
    },
    { timeoutMs: 10_000, intervalMs: 10 },
  );
  if (init === undefined) throw new LabError('the namespaces have no first process');
  return { keeper, init };
}

/** The only child of a process, such as the program that `nsenter` or `unshare` runs. */
export function childOf({ pid }: ProcessIdentity): ProcessIdentity | undefined {
  const children = `/proc/${pid}/task/${pid}/children`;
  const first = existsSync(children) ? readFileSync(children, 'utf8').split(' ')[0] : undefined;
  return first ? processIdentity(Number(first)) : undefined;
}

/** The command line that runs a program inside. */
export function inside({ init }: Pick<Namespaces, 'init'>, program: string, parameters: readonly string[]) {
  const command = ['--target', String(init.pid), '--net', '--mount', '--pid', '--', program, ...parameters];
  return { program: 'nsenter', parameters: command } as const;
}

/** Runs a program inside to its end and returns what it printed. */
export async function runInside(
  namespaces: Pick<Namespaces, 'init'>,
  program: string,
  ...parameters: readonly string[]
): Promise<string> {
  const command = inside(namespaces, program, parameters);
  return runCommand(command.program, command.parameters, { timeoutMs: 120_000 });
}

/** Starts a long-running program inside. */
export function startInside(
  namespaces: Pick<Namespaces, 'init'>,
  command: Pick<Parameters<typeof startComponent>[0], 'component' | 'program' | 'parameters' | 'logPath'>,
): Component {
  const entered = inside(namespaces, 'env', [`--chdir=${runtimeDir}`, command.program, ...command.parameters]);
  return startComponent({ ...command, ...entered, cwd: '/', endsWith: 'itself' });
}

/** Gives the namespaces their own file tree: system folders emptied, the lab's folders in their place. */
export async function arrangeMounts(namespaces: Namespaces, dir: string): Promise<void> {
  const script = ['set -e', 'mount --make-rshared /'];
  for (const folder of hiddenFolders) script.push(`mount -t tmpfs -o mode=0755 lab ${folder}`);
  script.push(`mkdir -p ${runtimeDir} /run/netns /var/lib/cni`);
  for (const [source, target] of boundFolders(dir)) {
    mkdirSync(source, { recursive: true });
    // Private first: a mount below the target must not appear below the source a second time.
    script.push(`mkdir -p ${target}`, `mount --bind ${quoted(source)} ${target}`);
    script.push(`mount --make-private ${target}`, `mount --make-shared ${target}`);
  }
  for (const [path, value] of Object.entries(kubeletSysctls)) {
    const file = `${runtimeDir}/${path.replaceAll('/', '.')}`;
    script.push(
      `if [ -e /proc/sys/${path} ]; then echo ${value} > ${file}; mount --bind ${file} /proc/sys/${path}; fi`,
    );
  }
  await runInside(namespaces, 'sh', '-c', script.join('\n'));
}

function quoted(path: string): string {
  return `'${path.replaceAll("'", String.raw`'\''`)}'`;
}

/** Waits until a process that was told to end is gone; used where nothing can be asked but the process itself. */
export async function untilGone(isGone: () => boolean, timeoutMs: number): Promise<boolean> {
  const deadline = performance.now() + timeoutMs;
  while (!isGone()) {
    if (performance.now() > deadline) return false;
    await sleep(20);
  }
  return true;
}
