/** What a process has used, from /proc: CPU time and memory. */

import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

export interface Usage {
  /** User and system time, in milliseconds. The kernel counts in ticks of ten. */
  readonly cpuMs: number;
  /** VmRSS, in MiB. */
  readonly rssMib: number;
  /** VmHWM: the most it ever was, in MiB. */
  readonly peakMib: number;
}

const tickMs = 1000 / Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }));

/** Throws when there is no such process. */
export function usageOf(pid: number): Usage {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const mib = (name: string): number => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]) / 1024;
  return { cpuMs: (Number(fields[11]) + Number(fields[12])) * tickMs, rssMib: mib('VmRSS'), peakMib: mib('VmHWM') };
}

/** CPU time of this process and of all its children that have ended, in milliseconds. */
export function ownCpuMs(): number {
  const stat = readFileSync('/proc/self/stat', 'utf8');
  const fields = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number);
  return fields.slice(11, 15).reduce((total, ticks) => total + ticks, 0) * tickMs;
}

/** The machine's CPU time since start that was not idle, in milliseconds over all cores. */
export function machineCpuMs(): number {
  const [, user, nice, system, , , irq, softirq] = readFileSync('/proc/stat', 'utf8').split(/\s+/).map(Number);
  return [user, nice, system, irq, softirq].reduce<number>((total, ticks = 0) => total + ticks, 0) * tickMs;
}
