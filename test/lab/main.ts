// The lab's command line.
import { relative, resolve } from 'node:path';
import { type LabCommand, parseArguments, usage } from './arguments.ts';
import { clusterBinaries, controlPlaneBinaries, spireBinaries, pulumiBinaries } from './binaries.ts';
import { becomeBorrowed } from './borrowed.ts';
import { ensureBinaries } from './build.ts';
import { chosenLab, noSuchLab } from './chosen-lab.ts';
import { down, endLab } from './down.ts';

import { ensureKeycloak } from './keycloak/distribution.ts';
import { LabError } from './lab-error.ts';
import { loadImage } from './load-image.ts';
import { defaultLabName, labKubeconfigPath } from './locations.ts';
import { ensureNodePackages } from './node/packages.ts';
import { reportToStderr, secondsSince } from './progress.ts';
import { existingLabs } from './state.ts';
import { labStatus } from './status.ts';
import { canRunNode, up } from './up.ts';

async function run(command: LabCommand): Promise<number> {
  switch (command.verb) {
    case 'up':
      return runUp(command);
    case 'down':
      return runDown(meant(command));
    case 'status': {
      const { text, isUp } = labStatus(meant(command));
      process.stdout.write(text);
      return isUp ? 0 : 1;
    }
    case 'kubectl':
    case 'pulumi':
      return becomeBorrowed(command.verb, meant(command), command.parameters);
    case 'load': {
      const archive = resolve(process.env['INIT_CWD'] ?? '.', command.archive);
      const isLoaded = await loadImage(meant(command), archive);
      process.stdout.write(`${command.archive} ${isLoaded ? 'is loaded' : 'was loaded before'}\n`);
      return 0;
    }
    case 'build':
      return runBuild(command.target);
    case 'help':
      process.stdout.write(usage);
      return 0;
    default:
      process.stderr.write(`${command.message}\n\n${usage}`);
      return 2;
  }
}

async function runBuild(target: (LabCommand & { readonly verb: 'build' })['target']): Promise<number> {
  if (target === 'keycloak') {
    await ensureKeycloak(reportToStderr);
    return 0;
  }
  if (target === 'cluster' && canRunNode()) await ensureNodePackages(reportToStderr);
  const cluster = canRunNode() ? clusterBinaries : controlPlaneBinaries;
  await ensureBinaries({ cluster, spire: spireBinaries, pulumi: pulumiBinaries }[target], reportToStderr);
  return 0;
}

function meant({ verb, name }: { readonly verb: string; readonly name: string | undefined }): string {
  return chosenLab(name, existingLabs(), verb);
}

async function runUp(command: LabCommand & { readonly verb: 'up' }): Promise<number> {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => void cancelUp(command.name));
  }
  const { isStarted } = await up(command, reportToStderr);
  const choice = command.name === defaultLabName ? '' : ` --name ${command.name}`;
  const started = `${labStatus(command.name).text}Look around: npm run lab -- kubectl${choice} get pods -A\n`;
  process.stdout.write(isStarted ? started : `The lab "${command.name}" is already up.\n`);
  return 0;
}

async function cancelUp(name: string): Promise<void> {
  process.stderr.write('Interrupted: ending what was started …\n');
  await endLab(name, { keepsLogs: false });
  process.exit(130);
}

async function runDown(name: string): Promise<number> {
  const startMs = performance.now();
  const existed = await down(name);
  const kubeconfig = relative(process.cwd(), labKubeconfigPath(name));
  const done = `The lab "${name}" is down after ${secondsSince(startMs)}; ${kubeconfig} is removed.`;
  process.stdout.write(`${existed ? done : noSuchLab(name, existingLabs(), 'down')}\n`);
  return 0;
}

try {
  process.exitCode = await run(parseArguments(process.argv.slice(2)));
} catch (error) {
  if (!(error instanceof LabError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}
