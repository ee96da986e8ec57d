// Uses a cluster of the user's own instead of a lab: writes its kubeconfig where the lab's would be.
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { ensureBinaries, pathOf } from './build.ts';
import { LabError } from './lab-error.ts';
import { labKubeconfigPath } from './locations.ts';
import type { Report } from './progress.ts';
import { runCommand } from './run-command.ts';
import { type ContextLab, writeState } from './state.ts';

/** Copies one context of the user's kubeconfig, with its credentials, for the lab of this name. */
export async function useContext(name: string, context: string, report: Report): Promise<ContextLab> {
  const kubectl = pathOf(await ensureBinaries(['kubectl'], report), 'kubectl');
  const kubeconfig = await readContext(kubectl, context);
  const path = labKubeconfigPath(name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, kubeconfig, { mode: 0o600 });
  const lab: ContextLab = { kind: 'context', name, context };
  writeState(lab);
  return lab;
}

async function readContext(kubectl: string, context: string): Promise<string> {
  try {
    return await runCommand(kubectl, ['config', 'view', '--minify', '--flatten', '--raw', `--context=${context}`]);
  } catch (cause) {
    throw new LabError(`Your kubeconfig has no usable context "${context}".`, { cause });
  }
}
