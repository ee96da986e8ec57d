// Ends a lab: its processes, its links, its cgroups and its files.
import { existsSync, readdirSync, rmdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { endProcesses } from './component.ts';
import { exclusively } from './exclusive.ts';
import { labDir, labKubeconfigPath } from './locations.ts';
import { removeCgroup } from './node/cgroups.ts';
import { disconnectNetwork } from './node/network.ts';
import { type LabState, readState } from './state.ts';

/** Ends the lab and says whether there was one. */
export async function down(name: string): Promise<boolean> {
  return exclusively(
    `lab ${labDir(name)}`,
    () => {},
    async () => {
      const existed = readState(name) !== undefined;
      await endLab(name, { keepsLogs: false });
      return existed;
    },
  );
}

/** Ends whatever is left of a lab; the caller holds the claim on it. */
export async function endLab(name: string, { keepsLogs }: { readonly keepsLogs: boolean }): Promise<void> {
  // Again while the state changes: an interrupted start may still be starting something.
  let ended: string | undefined;
  for (;;) {
    const state = readState(name);
    if (state === undefined || JSON.stringify(state) === ended) break;
    await endState(state);
    ended = JSON.stringify(state);
  }
  removeFiles(name, keepsLogs);
}

async function endState(state: LabState): Promise<void> {
  if (state.kind === 'context') return;
  // Nothing is asked politely: the data goes too. Inside a node lab the kernel ends every process with the first.
  const first = state.kind === 'node' && state.init !== undefined ? [state.init] : [];
  await endProcesses([...first, ...state.processes], 0);
  if (state.kind === 'control-plane') return;
  await disconnectNetwork(state.linkName);
  await removeCgroup(state.cgroupRoot);
}

function removeFiles(name: string, keepsLogs: boolean): void {
  const dir = labDir(name);
  rmSync(labKubeconfigPath(name), { force: true });
  for (const entry of existsSync(dir) ? readdirSync(dir) : []) {
    if (!keepsLogs || entry !== 'log') rmSync(join(dir, entry), { recursive: true, force: true, maxRetries: 3 });
  }
  for (const folder of [dir, dirname(dir)]) {
    if (existsSync(folder) && readdirSync(folder).length === 0) rmdirSync(folder);
  }
}
