// Runs the built kubectl against a lab in the place of this process.
import { existsSync } from 'node:fs';
import { ensureBinaries, pathOf } from './build.ts';
import { noSuchLab } from './chosen-lab.ts';
import { LabError } from './lab-error.ts';
import { labKubeconfigPath } from './locations.ts';
import { reportToStderr } from './progress.ts';
import { existingLabs } from './state.ts';

/** Becomes kubectl; its output, signals and exit code are kubectl's own. */
export async function becomeKubectl(name: string, parameters: readonly string[]): Promise<never> {
  const kubeconfig = labKubeconfigPath(name);
  if (!existsSync(kubeconfig)) throw new LabError(noSuchLab(name, existingLabs(), 'kubectl'));
  const kubectl = pathOf(await ensureBinaries(['kubectl'], reportToStderr), 'kubectl');
  // npm runs scripts in the project's folder; file names are meant relative to the caller's.
  const callerDir = process.env['INIT_CWD'];
  if (callerDir) process.chdir(callerDir);
  if (process.execve === undefined) throw new LabError('kubectl cannot be run on this platform');
  return process.execve(kubectl, [kubectl, ...parameters], { ...process.env, KUBECONFIG: kubeconfig });
}
