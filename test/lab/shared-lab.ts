// Gives the tests of one run a common control plane, started by whichever test process asks first.
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { exclusively } from './exclusive.ts';
import { LabError } from './lab-error.ts';
import { markOwner } from './owned-dir.ts';
import { isRunning, type ProcessIdentity, processIdentity } from './process-identity.ts';

/** The variable by which a runner hands its own cluster to the tests. */
export const kubeconfigVariable = 'ROSSOCTL_TEST_KUBECONFIG';

/** A cluster the tests of one run share. */
export interface SharedLab {
  /** An administrator's kubeconfig. */
  readonly kubeconfigPath: string;
}

/** The cluster of this test run: the runner's own, or a control plane with controllers that lives as long as the
 * test runner (without a runner: as long as this process). Tests keep apart by namespaces of their own. */
export async function useLab(): Promise<SharedLab> {
  const given = process.env[kubeconfigVariable];
  if (given) return { kubeconfigPath: given };
  const owner = runOwner();
  const dir = join(tmpdir(), `rossoctl-shared-${owner.pid}-${owner.startTime}`);
  return exclusively(
    dir,
    () => {},
    () => findOrStart(owner, dir),
  );
}

/** A namespace name no other test has; creating it is the test's business. */
export function testNamespace(prefix: string): string {
  return `${prefix}-${randomBytes(5).toString('hex')}`;
}

// node:test runs each test file in a child of the runner and marks it with this variable.
function runOwner(): ProcessIdentity {
  const pid = process.env['NODE_TEST_CONTEXT'] === undefined ? process.pid : process.ppid;
  const owner = processIdentity(pid);
  if (owner === undefined) throw new LabError(`the test runner (process ${pid}) has ended`);
  return owner;
}

async function findOrStart(owner: ProcessIdentity, dir: string): Promise<SharedLab> {
  const readyFile = join(dir, 'ready.json');
  if (!existsSync(readyFile)) {
    const keeper = startKeeper(owner, dir);
    while (!existsSync(readyFile)) {
      if (!isRunning(keeper)) throw new LabError(`the shared control plane did not start:\n${keeperLog(dir)}`);
      await sleep(50);
    }
  }
  return JSON.parse(readFileSync(readyFile, 'utf8')) as SharedLab;
}

function startKeeper(owner: ProcessIdentity, dir: string): ProcessIdentity {
  rmSync(dir, { recursive: true, force: true });
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  markOwner(dir, owner);
  const log = openSync(join(dir, 'keeper.log'), 'a');
  const program = join(import.meta.dirname, 'shared-lab-keeper.ts');
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const keeper = spawn(process.execPath, [program, String(owner.pid), owner.startTime, dir], {
    detached: true,
    stdio: ['ignore', log, log],
    env,
  });
  keeper.unref();
  const identity = keeper.pid === undefined ? undefined : processIdentity(keeper.pid);
  if (identity === undefined) throw new LabError(`the shared control plane did not start:\n${keeperLog(dir)}`);
  return identity;
}

function keeperLog(dir: string): string {
  return readFileSync(join(dir, 'keeper.log'), 'utf8');
}
