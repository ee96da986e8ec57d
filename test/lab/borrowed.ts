// Runs a program of somebody else's, built here, against a lab in the place of this process.
import { existsSync } from 'node:fs';
import type { Borrowed } from './arguments.ts';
import { ensureBinaries, pathOf } from './build.ts';
import { noSuchLab } from './chosen-lab.ts';
import { LabError } from './lab-error.ts';
import { labDir, labKubeconfigPath } from './locations.ts';
import { reportToStderr } from './progress.ts';
import { pulumiIn } from './pulumi/pulumi.ts';
import { existingLabs } from './state.ts';

interface Runnable {
  readonly program: string;
  readonly environment: Readonly<Record<string, string>>;
}

const runnables: Readonly<Record<Borrowed, (lab: string) => Promise<Runnable>>> = {
  kubectl: async () => {
    const binaries = await ensureBinaries(['kubectl'], reportToStderr);
    return { program: pathOf(binaries, 'kubectl'), environment: {} };
  },
  // Its state is of no use without the cluster: both go together.
  pulumi: (lab) => pulumiIn(labDir(lab)),
};

/** Becomes the program; its output, signals and exit code are its own. */
export async function becomeBorrowed(verb: Borrowed, lab: string, parameters: readonly string[]): Promise<never> {
  const kubeconfig = labKubeconfigPath(lab);
  if (!existsSync(kubeconfig)) throw new LabError(noSuchLab(lab, existingLabs(), verb));
  const { program, environment } = await runnables[verb](lab);
  // npm runs scripts in the project's folder; file names are meant relative to the caller's.
  const callerDir = process.env['INIT_CWD'];
  if (callerDir) process.chdir(callerDir);
  if (process.execve === undefined) throw new LabError(`${verb} cannot be run on this platform`);
  return process.execve(program, [program, ...parameters], {
    ...process.env,
    ...environment,
    KUBECONFIG: kubeconfig,
  });
}
