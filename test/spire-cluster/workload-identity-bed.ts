/** What tests of the sidecar's identity beside a real SPIRE share: the keeper as it runs, and an agent that goes away and comes back. */

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
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
export interface Stopped {
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

/** What the server of a SPIRE answers to a command, as JSON. */
export async function askServer({ dir }: Spire, ...command: readonly string[]): Promise<unknown> {
  const paths = await ensureBinaries(spireBinaries, reportToStderr);
  const parameters = [...command, '-socketPath', join(dir, 'server', 'api.sock'), '-output', 'json'];
  return JSON.parse(await runCommand(pathOf(paths, 'spire-server'), parameters, { timeoutMs: 30_000 })) as unknown;
}

/** An entry for this process that is federated with another trust domain, whose roots are `pem`. */
export async function createFederatedEntry(
  spire: Spire,
  spiffeId: string,
  partner: { readonly domain: string; readonly pem: string },
): Promise<void> {
  const path = join(spire.dir, 'partner.pem');
  writeFileSync(path, partner.pem);
  const federated = `spiffe://${partner.domain}`;
  await askServer(spire, 'bundle', 'set', '-id', federated, '-path', path);
  const entry = ['-parentID', nodeId(spire), '-spiffeID', spiffeId, '-selector', `unix:uid:${process.getuid?.() ?? 0}`];
  await askServer(spire, 'entry', 'create', ...entry, '-federatesWith', federated);
}

/** Takes the entry of an ID away. */
export async function deleteEntry(spire: Spire, spiffeId: string): Promise<void> {
  const { entries } = (await askServer(spire, 'entry', 'show', '-spiffeID', spiffeId)) as {
    readonly entries: readonly { readonly id: string }[];
  };
  for (const { id } of entries) await askServer(spire, 'entry', 'delete', '-entryID', id);
}

const nodeId = ({ trustDomain }: Spire): string => `spiffe://${trustDomain}/lab-node`;

/** Kills the agent of a SPIRE; what it returns starts another one in its place, which `stop` ends. */
export async function agentAway(spire: Spire): Promise<() => Promise<Stopped>> {
  const agent = spire.processes().find(({ component }) => component === 'spire-agent');
  await endProcesses(agent === undefined ? assert.fail('there is no agent') : [agent], 0);
  return async () => {
    const started = await startedAgent(spire);
    return { stop: () => endProcesses([started], 0) };
  };
}

async function startedAgent(spire: Spire): Promise<Component> {
  const { dir } = spire;
  const paths = await ensureBinaries(spireBinaries, reportToStderr);
  const { value } = (await askServer(spire, 'token', 'generate', '-spiffeID', nodeId(spire))) as {
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
