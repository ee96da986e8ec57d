/** Runs the lab's own kubectl against a test's API server. */

import { spawn } from 'node:child_process';
import { ensureBinaries, pathOf } from '../lab/build.ts';
import type { ControlPlane } from '../lab/control-plane.ts';
import { reportToStderr } from '../lab/progress.ts';

export interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Resolves with its exit code; never throws for one that is not 0. */
export async function kubectl(plane: ControlPlane, args: readonly string[]): Promise<Ran> {
  const program = pathOf(await ensureBinaries(['kubectl'], reportToStderr), 'kubectl');
  return new Promise((resolve, reject) => {
    const child = spawn(program, ['--kubeconfig', plane.kubeconfigPath, ...args], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const out: string[] = [];
    const err: string[] = [];
    child.stdout.setEncoding('utf8').on('data', (text: string) => out.push(text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => err.push(text));
    child.on('error', reject);
    child.on('close', (code) => resolve({ code: code ?? -1, stdout: out.join(''), stderr: err.join('') }));
  });
}
