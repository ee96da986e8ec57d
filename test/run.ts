/** Runs the test suite: pure tests in one process a core, whole programs and cluster tests file by file; ends with one plain line. */

import { spawn } from 'node:child_process';
import { globSync, rmSync } from 'node:fs';
import { availableParallelism, constants, setPriority } from 'node:os';
import path from 'node:path';
import { run } from 'node:test';
import { parseArgs } from 'node:util';
import { type Part, runAfter } from './support/after-build.ts';
import { makeOwnedDir } from './lab/owned-dir.ts';
import { createTally, type Tally } from './support/tally.ts';

const root = path.resolve(import.meta.dirname, '..');
const usage = `usage: npm test -- [--unit | --cluster] [FILE…]

  --unit      pure tests only: no cluster, no program of its own, under 20 s
  --cluster   only the tests that need a real API server
  FILE…       only these files
`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { unit: { type: 'boolean' }, cluster: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } },
});

/** Programs and servers of ours as they run, without a cluster. */
const processPatterns = ['test/process/**/*.test.ts', 'test/sidecar-{capture,envoy}/**/*.test.ts'];
const unitPatterns = ['test/*.test.ts', 'test/{runtime,constructs,stacks,scripts,examples}/**/*.test.ts'];
/** Files that take longest, 40 s and more on two cores: begun first, in this order, so that no core waits for them at the end. */
const longest = [
  'pulumi-cluster/platform',
  'pulumi-cluster/needy',
  'examples-cluster/demo',
  'sidecar-cluster/exchange',
  'sidecar-cluster/pod',
  'node-cluster/operator',
  'operator-cluster/chaos',
  'pulumi-cluster/component',
  'operator-cluster/leader',
  'pulumi-cluster/adoption',
  'card-cluster/verification',
  'card-cluster/discovery',
  'node-cluster/network-policies',
  'operator-cluster/killed',
  'pulumi-cluster/life',
  'network-policy-cluster/ownership',
  'operator-cluster/outage',
  'network-policy-cluster/outliving',
  'operator-cluster/outliving',
  'pulumi-cluster/order',
  'card-cluster/trust',
];

/** Tests beside parts whose build takes as long as that of all else: they come last, in this order, each with the build's option. */
const slowParts = [
  {
    option: '--spire',
    patterns: ['test/spire-cluster/**/*.test.ts', 'test/sidecar-cluster/{mutual-tls,spiffe-helper}.test.ts'],
    mayBeMissing: false,
  },
  {
    option: '--keycloak',
    patterns: [
      'test/sidecar-keycloak/**/*.test.ts',
      'test/sidecar-cluster/{exchange,registration}.test.ts',
      // Needs SPIRE too, which is built before.
      'test/examples-cluster/demo.test.ts',
    ],
    mayBeMissing: false,
  },
  // The Node side of Pulumi is tested without its CLI too, so a machine that cannot build that goes without.
  { option: '--pulumi', patterns: ['test/pulumi-cluster/**/*.test.ts'], mayBeMissing: true },
];
const clusterPatterns = ['test/*-cluster/**/*.test.ts', 'test/lab/**/*.test.ts'];

function files(patterns: readonly string[]): string[] {
  const found = patterns.flatMap((pattern) => globSync(pattern, { cwd: root }));
  const chosen = positionals.map((file) => path.relative(root, path.resolve(file)));
  return longestFirst(found.filter((file) => chosen.length === 0 || chosen.includes(file)));
}

function longestFirst(names: readonly string[]): string[] {
  const rank = (name: string): number => {
    const place = longest.findIndex((each) => name === `test/${each}.test.ts`);
    return place < 0 ? longest.length : place;
  };
  return [...names].sort((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1));
}

/** Pure tests share one process a core, up to two; every second file goes to the other. */
async function runUnit(tally: Tally): Promise<void> {
  const chosen = files(unitPatterns);
  const parts = Math.min(2, availableParallelism(), chosen.length);
  const shares = Array.from({ length: parts }, (_, part) => chosen.filter((_file, index) => index % parts === part));
  const load = path.join(root, 'test/support/unit-part.ts');
  await Promise.all(shares.map((argv) => tally.follow(run({ files: [load], cwd: root, argv }))));
}

/** A cluster test waits for its API server, its pods and its leases more than half of its time: four files at a time fill two cores, and leave each in time. */
const concurrency = Math.min(4, 2 * availableParallelism());

async function runFiles(tally: Tally, chosen: readonly string[]): Promise<void> {
  if (chosen.length === 0) return;
  await tally.follow(run({ files: [...chosen], cwd: root, concurrency, timeout: 15 * 60_000 }));
}

/** Builds what cluster tests need; on a new machine this takes minutes, so it starts before the pure tests. */
function buildLab(...options: readonly string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ['test/lab/main.ts', 'build', ...options], {
      cwd: root,
      stdio: ['ignore', 'inherit', 'inherit'],
    });
    // What is built beside tests takes only what they leave.
    if (options.length > 0 && child.pid !== undefined) setPriority(child.pid, constants.priority.PRIORITY_LOW);
    child.on('error', reject);
    child.on('exit', (code) =>
      code === 0
        ? resolve()
        : reject(new Error(`building the lab failed with exit code ${code}; run: npm run lab -- build`)),
    );
  });
}

/** What Node compiles in one of our processes is there for all that follow, which start in half the time. */
function shareCompiled(): void {
  const dir = makeOwnedDir('compiled');
  process.env['NODE_COMPILE_CACHE'] = dir;
  process.on('exit', () => rmSync(dir, { recursive: true, force: true }));
}

async function main(): Promise<void> {
  if (values.help) {
    process.stdout.write(usage);
    return;
  }
  shareCompiled();
  const tally = createTally(process.stdout);
  const slow: readonly Slow[] = slowParts.map((part) => ({ ...part, files: values.unit ? [] : files(part.patterns) }));
  const slowFiles = slow.flatMap((part) => part.files);
  const clusterFiles = values.unit ? [] : files(clusterPatterns).filter((file) => !slowFiles.includes(file));
  const built = clusterFiles.length + slowFiles.length > 0 ? buildLab() : Promise.resolve();
  const builds = buildsOf(slow, built);
  if (!values.cluster) await runUnit(tally);
  if (!values.cluster && !values.unit) await runFiles(tally, files(processPatterns));
  await built.catch(() => undefined);
  // What is built already joins the others; what is not runs when it is.
  const early = builds.filter(({ isDone }) => isDone());
  const first = {
    files: longestFirst([...clusterFiles, ...early.flatMap(({ part }) => part.files)]),
    mayBeMissing: false,
  };
  const how = { tally, runFiles: (chosen: readonly string[]) => runFiles(tally, chosen) };
  await runAfter(built, first, how);
  for (const build of builds) if (!early.includes(build)) await runAfter(build.done, build.part, how);
  tally.close();
  process.exitCode = tally.failed === 0 && tally.passed > 0 ? 0 : 1;
}

interface Slow extends Part {
  readonly option: string;
}

interface Build {
  readonly part: Slow;
  readonly done: Promise<void>;
  /** Whether it has succeeded. */
  readonly isDone: () => boolean;
}

/** Builds one slow part after another, after what all need. */
function buildsOf(slow: readonly Slow[], built: Promise<void>): readonly Build[] {
  let before: Promise<unknown> = built;
  return slow.map((part): Build => {
    let isDone = part.files.length === 0;
    const build = () => built.then(() => buildLab(part.option)).then(() => void (isDone = true));
    const done = part.files.length === 0 ? built : before.then(build, build);
    before = done;
    done.catch(() => undefined);
    return { part, done, isDone: () => isDone };
  });
}

await main();
