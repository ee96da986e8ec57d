/** What tests of the sidecar's identity beside a real SPIRE share: the keeper as it runs, and an agent that goes away and comes back. */

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createHealth } from '../../runtime/engine/health.ts';
import { createMetrics } from '../../runtime/engine/metrics.ts';
import { systemClock } from '../../runtime/engine/clock.ts';
import { createWorkloadApi } from '../../runtime/sidecar/spiffe/client.ts';
import { runSpiffeHelper } from '../../runtime/sidecar/spiffe/helper.ts';
import type { Identity } from '../../runtime/sidecar/spiffe/identity.ts';
import { createIdentityKeeper } from '../../runtime/sidecar/spiffe/keeper.ts';
import type { X509Svid } from '../../runtime/sidecar/spiffe/svid.ts';
import { spireBinaries } from '../lab/binaries.ts';
import { ensureBinaries, pathOf } from '../lab/build.ts';
import { type Component, endProcesses, startComponent } from '../lab/component.ts';
import { reportToStderr } from '../lab/progress.ts';
import { runCommand } from '../lab/run-command.ts';
import type { Spire } from '../lab/spire/spire.ts';
import { captureLog } from '../runtime/engine/admission-fixtures.ts';

export const pod = { namespace: 'team1', serviceAccount: 'weather' };

/** Something that runs until it is stopped. */
interface Stopped {
  readonly stop: () => Promise<void>;
}

/** The identity of this process, kept as in a pod. */
export function keptIdentity(spire: Pick<Spire, 'socketPath' | 'trustDomain'>): Stopped & {
  readonly identity: Identity;
  readonly metric: (name: string) => Promise<number>;
} {
  const metrics = createMetrics({ process: false });
  const keeper = createIdentityKeeper({
    api: createWorkloadApi(spire.socketPath),
    trustDomain: spire.trustDomain,
    pod,
    clock: systemClock,
    log: captureLog().log,
    metrics,
  });
  const ending = new AbortController();
  const end = keeper.run(ending.signal);
  const metric = async (name: string) => {
    const lines = (await metrics.text()).split('\n');
    return Number(lines.find((line) => line.startsWith(`${name} `))?.slice(name.length));
  };
  const stop = (): Promise<void> => {
    ending.abort();
    return end;
  };
  return { identity: keeper.identity, metric, stop };
}

/** spiffe-helper as it runs in its container, writing to `directory`. */
export function runningHelper(
  spire: Pick<Spire, 'socketPath' | 'trustDomain'>,
  directory: string,
): Stopped & {
  readonly isReady: () => boolean;
  readonly reason: () => string | undefined;
} {
  const { socketPath, trustDomain } = spire;
  const health = createHealth();
  const ending = new AbortController();
  const settings = { socketPath, trustDomain, pod, directory, audiences: ['keycloak', 'other'] };
  const parts = { log: captureLog().log, metrics: createMetrics({ process: false }), health };
  const end = runSpiffeHelper(settings, parts, ending.signal);
  return {
    isReady: () => health.readyz().ok,
    reason: () => health.readyz().checks[0]?.reason,
    stop: async () => {
      ending.abort();
      await end;
      health.stop();
    },
  };
}

/** What is found, once it is found; throws after a minute with `said`. */
export async function eventually<T>(find: () => T | undefined, said: () => unknown = () => ''): Promise<T> {
  const deadline = performance.now() + 60_000;
  for (;;) {
    const found = find();
    if (found !== undefined) return found;
    if (performance.now() > deadline) assert.fail(`not within a minute: ${JSON.stringify(said())}`);
    await sleep(20);
  }
}

/** The SVID that is held, once it is one that is wanted. */
export function heldSvid(identity: Identity, isWanted: (svid: X509Svid) => boolean = () => true): Promise<X509Svid> {
  return eventually(
    () => (identity.state.kind === 'held' && isWanted(identity.state.svid) ? identity.state.svid : undefined),
    () => ({ ...identity.state, svid: undefined }),
  );
}

/** Kills the agent of a SPIRE; what it returns starts another one in its place, which `stop` ends. */
export async function agentAway(spire: Spire): Promise<() => Promise<Stopped>> {
  const agent = spire.processes().find(({ component }) => component === 'spire-agent');
  await endProcesses(agent === undefined ? assert.fail('there is no agent') : [agent], 0);
  return async () => {
    const started = await startedAgent(spire);
    return { stop: () => endProcesses([started], 0) };
  };
}

async function startedAgent({ dir, trustDomain }: Spire): Promise<Component> {
  const paths = await ensureBinaries(spireBinaries, reportToStderr);
  const parent = ['-spiffeID', `spiffe://${trustDomain}/lab-node`];
  const command = ['token', 'generate', ...parent, '-socketPath', join(dir, 'server', 'api.sock'), '-output', 'json'];
  const { value } = JSON.parse(await runCommand(pathOf(paths, 'spire-server'), command, { timeoutMs: 30_000 })) as {
    readonly value: string;
  };
  return startComponent({
    component: 'spire-agent',
    program: pathOf(paths, 'spire-agent'),
    parameters: ['run', '-config', join(dir, 'agent.json'), '-joinToken', value],
    logPath: join(dir, 'log', 'spire-agent-again.log'),
    cwd: dir,
    endsWith: 'parent',
  });
}
