/** Describes the machine and how busy others kept it while the benchmark ran. */

import { availableParallelism, cpus, loadavg, release, totalmem } from 'node:os';
import { kubernetesVersion } from '../lab/binaries.ts';
import { hasMountNamespace } from './operator-process.ts';
import { machineCpuMs, ownCpuMs } from './process-usage.ts';

export interface MachineNotes {
  /** One fact a line. */
  lines(): readonly string[];
}

/** Begins to watch the machine. `lines` is asked when everything has ended. */
export function watchMachine(): MachineNotes {
  const [busy, load, at] = [machineCpuMs(), loadavg()[0] ?? 0, performance.now()];
  return {
    lines: () => {
      const lasted = performance.now() - at;
      const share = (machineCpuMs() - busy) / lasted;
      const foreign = Math.max(0, share - ownCpuMs() / lasted);
      const cores = availableParallelism();
      return [
        `${cores} cores of ${cpus()[0]?.model.trim() ?? 'unknown'}, ${(totalmem() / 1024 ** 3).toFixed(0)} GiB, Linux ${release()}`,
        `Node ${process.version}; Kubernetes ${kubernetesVersion}, etcd without fsync, one of each; all on this machine, the load generators too`,
        hasMountNamespace
          ? 'the operator finds its account where a pod has it, in a mount namespace of its own'
          : 'the operator has its account by kubeconfig, because this user may not mount: the library that reads it costs some 70 MB which a pod does not pay',
        `load average before the run ${load.toFixed(1)}; on average ${share.toFixed(1)} of ${cores} cores were busy during it, ${foreign.toFixed(1)} of them with work that is not the benchmark's${foreign < 0.1 ? '' : ': times are longer than on a machine of its own'}`,
      ];
    },
  };
}
