// Brings a lab up: finds it up already, or clears away a dead one and starts anew.
import { exclusively } from './exclusive.ts';
import { LabError } from './lab-error.ts';
import { labDir } from './locations.ts';
import { endLab } from './down.ts';
import { useContext } from './context.ts';
import { startLoopbackLab } from './loopback-lab.ts';
import { startNodeLab } from './node/node-lab.ts';
import { type Report, secondsSince } from './progress.ts';
import { isUp, type LabState, readState } from './state.ts';

export interface UpOptions {
  readonly name: string;
  readonly isControlPlaneOnly: boolean;
  /** A context of the user's kubeconfig to use instead of starting anything. */
  readonly context: string | undefined;
}

/** A lab that is up. */
export interface UpResult {
  readonly state: LabState;
  /** False when it was up before. */
  readonly isStarted: boolean;
}

/** Resolves when the lab works. A start that fails leaves nothing behind but its logs. */
export async function up(options: UpOptions, report: Report): Promise<UpResult> {
  const { name } = options;
  const onWait = (): void => report(`Waiting for another command that changes the lab "${name}" …`);
  return exclusively(`lab ${labDir(name)}`, onWait, async () => {
    const existing = readState(name);
    if (existing !== undefined && isUp(existing)) return { state: foundUp(existing, options), isStarted: false };
    await endLab(name, { keepsLogs: false });
    const startMs = performance.now();
    try {
      const state = await start(options, report);
      report(`The lab "${name}" is up after ${secondsSince(startMs)}.`);
      return { state, isStarted: true };
    } catch (error) {
      await endLab(name, { keepsLogs: true });
      throw error;
    }
  });
}

function foundUp(existing: LabState, { name, isControlPlaneOnly, context }: UpOptions): LabState {
  const wanted = wantedKind({ isControlPlaneOnly, context });
  const isWanted = existing.kind === wanted && (existing.kind !== 'context' || existing.context === context);
  if (isWanted) return existing;
  throw new LabError(`The lab "${name}" is up as ${describe(existing)}; end it with "down" first.`);
}

function describe(state: LabState): string {
  if (state.kind === 'context') return `the context ${state.context} of your kubeconfig`;
  return state.kind === 'node' ? 'a cluster with a node' : 'a control plane without a node';
}

async function start({ name, isControlPlaneOnly, context }: UpOptions, report: Report): Promise<LabState> {
  const kind = wantedKind({ isControlPlaneOnly, context });
  if (kind === 'context' && context !== undefined) return useContext(name, context, report);
  if (kind === 'node') {
    report(`Starting the lab "${name}", a cluster of one node:`);
    return startNodeLab(name, report);
  }
  const why = isControlPlaneOnly ? '' : ' because this is not root on Linux';
  report(`Starting the lab "${name}" without a node${why}: no pods run, so nothing that needs one can be tried.`);
  return startLoopbackLab(name, report);
}

function wantedKind({ isControlPlaneOnly, context }: Omit<UpOptions, 'name'>): LabState['kind'] {
  if (context !== undefined) return 'context';
  return isControlPlaneOnly || !canRunNode() ? 'control-plane' : 'node';
}

/** Whether this process may make the namespaces a node needs. */
export function canRunNode(): boolean {
  return process.platform === 'linux' && process.getuid?.() === 0;
}
