/** What it costs to synthesize agents, and to preview and apply them with the real Pulumi CLI. */

import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { kinds } from '../../runtime/api/kinds.ts';
import { webhookConfigurations } from '../../runtime/api/names.ts';
import { startPulumiBed } from '../pulumi-cluster/bed.ts';
import { ends } from './cleanup.ts';
import type { Figure, Finding } from './figures.ts';
import { ownCpuMs } from './process-usage.ts';
import { teamOf } from './team.ts';
import type { World } from './world.ts';

const sizes = [1, 100, 1_000] as const;
const quickSizes = [1, 100] as const;
/** Of the no-op. */
const kept = 100;

interface Synthesized {
  readonly synthMs: number;
  readonly wholeMs: number;
  readonly peakMib: number;
  readonly files: number;
  readonly bytes: number;
}

async function synthesized(count: number): Promise<Synthesized> {
  const out = mkdtempSync(path.join(tmpdir(), 'rossoctl-bench-tree-'));
  try {
    const child = path.join(import.meta.dirname, 'synth-child.ts');
    const { stdout } = await promisify(execFile)(process.execPath, [child, String(count), path.join(out, 'tree')]);
    return JSON.parse(stdout) as Synthesized;
  } finally {
    rmSync(out, { recursive: true, force: true });
  }
}

interface Ran {
  readonly seconds: number;
  readonly cpuSeconds: number;
  readonly peakMib: number;
}

/** Time, CPU and memory of a run of the CLI with everything it starts. */
async function ran(work: () => Promise<unknown>): Promise<Ran> {
  let peakMib = 0;
  const timer = setInterval(() => (peakMib = Math.max(peakMib, residentMib())), 100);
  const [began, cpu] = [performance.now(), ownCpuMs()];
  await work();
  clearInterval(timer);
  return { seconds: (performance.now() - began) / 1000, cpuSeconds: (ownCpuMs() - cpu) / 1000, peakMib };
}

/** All processes of Pulumi together: the CLI, the provider, the program. */
function residentMib(): number {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .reduce((sum, pid) => sum + residentOf(pid), 0);
}

function residentOf(pid: string): number {
  try {
    if (!readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('pulumi')) return 0;
    return Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024;
  } catch {
    // It has ended.
    return 0;
  }
}

const platform = { image: 'example.test/rossoctl:1', namespaces: [{ name: 'team1' }] };

export async function measureStacks(world: World): Promise<Finding> {
  const counts: readonly number[] = world.isQuick ? quickSizes : sizes;
  const synths = new Map<number, Synthesized>();
  for (const count of counts) synths.set(count, await synthesized(count));
  const bed = await startPulumiBed('bench');
  ends(bed.stop);
  world.say('stacks: the platform');
  const up = await ran(async () => (await bed.stack('bench', { platform })).run('up'));
  // There is no operator here that could answer them.
  const { injector, validator } = webhookConfigurations;
  await bed.client.remove({ kind: kinds.mutatingWebhookConfiguration, name: injector });
  await bed.client.remove({ kind: kinds.validatingWebhookConfiguration, name: validator });
  const team = await bed.stack('team', { agents: teamOf(kept) });
  const previews = new Map<number, Ran>();
  for (const count of counts) {
    world.say(`stacks: preview of ${count} agents`);
    team.configure({ agents: teamOf(count) });
    previews.set(count, await ran(() => team.preview()));
  }
  team.configure({ agents: teamOf(kept) });
  world.say(`stacks: preview of ${kept} agents with every checkpoint`);
  const checkpointed = await ran(() => team.preview({ asByDefault: true }));
  world.say(`stacks: up of ${kept} agents, twice`);
  const first = await ran(() => team.run('up'));
  const second = await ran(() => team.run('up'));
  await bed.stop();
  const figures = counts.flatMap((count) => figuresOf(count, synths.get(count), previews.get(count)));
  return {
    title: `stacks: ${counts.join(', ')} agents`,
    how: 'Each agent is a Deployment, a Service, a ServiceAccount and an AgentRuntime. Synthesis is a process of its own that writes the tree; Pulumi is the real CLI with the real provider against a control plane without nodes, its memory that of the CLI, the provider and the program together, seen every 100 ms. Previews are made with PULUMI_SKIP_CHECKPOINTS=true: without it the CLI makes the text of the whole state after every step where the state is kept in files or a bucket, so that the cost of an agent grows with their number; one figure shows that.',
    figures: [
      ...figures,
      ...growthOf(synths, previews),
      { what: `${kept} agents: preview with every checkpoint`, value: checkpointed.seconds, unit: 's' },
      { what: '… CPU of the preview', value: checkpointed.cpuSeconds, unit: 's' },
      { what: 'the platform: up on an empty cluster, nothing waited for', value: up.seconds, unit: 's' },
      { what: `${kept} agents: first up`, value: first.seconds, unit: 's' },
      { what: '… up without a change', value: second.seconds, unit: 's' },
      { what: '… CPU of Pulumi', value: second.cpuSeconds, unit: 's' },
    ],
  };
}

function figuresOf(count: number, synth: Synthesized | undefined, preview: Ran | undefined): readonly Figure[] {
  if (synth === undefined || preview === undefined) return [];
  return [
    { what: `${count} agents: synthesis`, value: synth.synthMs, unit: 'ms' },
    { what: '… with the start of Node', value: synth.wholeMs, unit: 'ms' },
    { what: '… memory at its peak', value: synth.peakMib, unit: 'MiB' },
    { what: '… files', value: synth.files, unit: '' },
    { what: '… size of the tree', value: synth.bytes / 1024, unit: 'KiB' },
    { what: '… preview', value: preview.seconds, unit: 's' },
    { what: '… CPU of the preview', value: preview.cpuSeconds, unit: 's' },
    { what: '… memory of the preview at its peak', value: preview.peakMib, unit: 'MiB' },
  ];
}

/** From the second size to the last: the first is all start. */
function growthOf(synths: ReadonlyMap<number, Synthesized>, previews: ReadonlyMap<number, Ran>): readonly Figure[] {
  const [, from, to] = [...synths.keys()];
  if (from === undefined || to === undefined) return [];
  const each = (of: (count: number) => number): number => of(to) / to / (of(from) / from);
  const linear = { atMost: 1.3, why: 'the cost of an agent grows with their number' };
  const rows = [
    ['synthesis of an agent', each((count) => synths.get(count)?.synthMs ?? NaN)],
    ['CPU of the preview of an agent', each((count) => previews.get(count)?.cpuSeconds ?? NaN)],
  ] as const;
  return rows.map(([what, value]) => ({ what: `${what}, ${to} to ${from}`, value, unit: '×', goal: linear }));
}
