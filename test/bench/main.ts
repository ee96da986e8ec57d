/** `npm run bench`: measures everything in one run, prints it as it goes, and writes the page. */

import { rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { stop as stopBundler } from 'esbuild';
import { bundle as bundleOf } from '../../scripts/bundle.ts';
import { makeOwnedDir } from '../lab/owned-dir.ts';
import { BenchUsageError, parseArguments, usage } from './arguments.ts';
import { endAll, endOnSignals, ends } from './cleanup.ts';
import type { Finding } from './figures.ts';
import { watchMachine } from './machine.ts';
import { markdown, missedCount, terminalText } from './report.ts';
import { measureAdmission } from './scenario-admission.ts';
import { measureCards } from './scenario-cards.ts';
import { measureChange } from './scenario-change.ts';
import { reportEnrolment } from './scenario-enrol.ts';
import { measureGrowth } from './scenario-growth.ts';
import { measureIdle } from './scenario-idle.ts';
import { measureLarge } from './scenario-large.ts';
import { measurePods } from './scenario-pods.ts';
import { measurePure } from './scenario-pure.ts';
import { measureReady } from './scenario-ready.ts';
import { measureRestart } from './scenario-restart.ts';
import { measureSidecar } from './scenario-sidecar.ts';
import { measureSidecarMtls } from './scenario-sidecar-mtls.ts';
import { measureSidecarRules } from './scenario-sidecar-rules.ts';
import { measureStacks } from './scenario-stacks.ts';
import { measureVerification } from './scenario-verification.ts';
import { createWorld, type SharedWorld } from './shared-world.ts';

/** In the order in which they run: from admission to idle they share a control plane. */
const scenarios: Readonly<Record<string, (world: SharedWorld) => Promise<Finding>>> = {
  pure: measurePure,
  'sidecar-rules': measureSidecarRules,
  sidecar: measureSidecar,
  'sidecar-mtls': measureSidecarMtls,
  verification: measureVerification,
  admission: measureAdmission,
  pods: measurePods,
  enrol: reportEnrolment,
  change: measureChange,
  restart: (world) => measureRestart(world, () => world.emptyStarts()),
  idle: measureIdle,
  large: measureLarge,
  growth: measureGrowth,
  cards: measureCards,
  stacks: measureStacks,
  ready: measureReady,
};

async function main(argv: readonly string[]): Promise<number> {
  const names = Object.keys(scenarios);
  const { only, isQuick, out, wantsHelp } = parseArguments(argv, names);
  if (wantsHelp) {
    process.stdout.write(usage(names));
    return 0;
  }
  endOnSignals();
  const begun = performance.now();
  const seconds = (): number => (performance.now() - begun) / 1000;
  const machine = watchMachine();
  const folder = makeOwnedDir('bench-bundle');
  ends(() => Promise.resolve(rmSync(folder, { recursive: true, force: true })));
  const made = await bundleOf('runtime/operator/main.ts', path.join(folder, 'operator.mjs'));
  // Its process would count as somebody else's work.
  await stopBundler();
  const say = (text: string): void => void process.stderr.write(`[${seconds().toFixed(0).padStart(4)} s] ${text}\n`);
  const world = createWorld({ isQuick, bundle: made.file, say });
  const findings: Finding[] = [];
  for (const [name, measure] of Object.entries(scenarios)) {
    if (only.length > 0 && !only.includes(name)) continue;
    const finding = await measure(world);
    findings.push(finding);
    process.stdout.write(terminalText(finding));
    if (world.isLastOnBed(name, only)) await world.stopBed();
  }
  await endAll();
  const command = ['npm run bench', ...(argv.length === 0 ? [] : ['--', ...argv])].join(' ');
  const date = new Date().toISOString().slice(0, 10);
  const report = { command, date, machine: machine.lines(), seconds: seconds(), findings };
  if (out !== undefined) writeFileSync(path.resolve(out), markdown(report));
  process.stdout.write(
    `\n${report.machine.join('\n')}\n${missedCount(findings)} goals missed, ${seconds().toFixed(0)} s${out === undefined ? '' : `, written to ${out}`}\n`,
  );
  return 0;
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  const isUsage = error instanceof BenchUsageError;
  process.stderr.write(`bench: ${error instanceof Error ? (isUsage ? error.message : error.stack) : String(error)}\n`);
  process.exitCode = isUsage ? 2 : 1;
} finally {
  await endAll();
}
