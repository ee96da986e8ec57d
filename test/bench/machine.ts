/** Describes the machine and how busy others kept it while the benchmark ran. */

import { execFileSync } from 'node:child_process';
import { availableParallelism, cpus, loadavg, release, totalmem } from 'node:os';
import { kubernetesVersion } from '../lab/binaries.ts';
import { machineCpuMs } from './process-usage.ts';

export interface MachineNotes {
  /** One fact a line. */
  lines(): readonly string[];
}

/** Begins to watch the machine. */
export function watchMachine(): MachineNotes {
  const [busy, load, at] = [machineCpuMs(), loadavg()[0] ?? 0, performance.now()];
  return {
    lines: () => {
      const share = (machineCpuMs() - busy) / (performance.now() - at);
      const cores = availableParallelism();
      return [
        `${cores} cores of ${cpus()[0]?.model.trim() ?? 'unknown'}, ${(totalmem() / 1024 ** 3).toFixed(0)} GiB, Linux ${release()}`,
        `Node ${process.version}; Kubernetes ${kubernetesVersion}, etcd without fsync, one of each; all on this machine, the load generators too`,
        `load average before the run ${load.toFixed(1)}; ${share.toFixed(1)} of ${cores} cores were busy during it`,
        others(),
      ];
    },
  };
}

/** Commands of processes that are not ours and use CPU now: builds and tests of others make times longer. */
function others(): string {
  const rows = execFileSync('ps', ['-eo', 'pcpu=,comm='], { encoding: 'utf8' }).trim().split('\n');
  const busy = rows.flatMap((row) => {
    const [share = '0', ...command] = row.trim().split(/\s+/);
    return Number(share) >= 10 ? [command.join(' ')] : [];
  });
  const names = [...new Set(busy)].filter((name) => name !== 'ps');
  return names.length === 0
    ? 'nothing else was busy at the end of the run'
    : `busy at the end of the run, ours among them: ${names.join(', ')}`;
}
