// Starts a SPIRE of a test's own: a server and an agent that gives SVIDs to this user's processes.
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type BinaryName, spireBinaries } from '../binaries.ts';
import { type BinaryPaths, ensureBinaries, pathOf } from '../build.ts';
import { type Component, componentError, endProcesses, startComponent, untilReady } from '../component.ts';
import { makeOwnedDir, sweepAbandonedDirs } from '../owned-dir.ts';
import { findFreePort } from '../ports.ts';
import { isRunning } from '../process-identity.ts';
import { reportToStderr } from '../progress.ts';
import { runCommand } from '../run-command.ts';
import { type AuthorityChange, authorityChange } from './authorities.ts';
import { readyPath, type SpireOptions, type SpirePlace, writeSpireFiles } from './spire-files.ts';
import { followX509Svids, WorkloadApiError } from './workload-api.ts';
import type { X509Svid } from './x509-svid.ts';

/** A running SPIRE. It ends with `stop()` or with the process that started it, whichever comes first. */
export interface Spire {
  readonly trustDomain: string;
  readonly dir: string;
  /** The Unix socket of the Workload API. */
  readonly socketPath: string;
  readonly authorities: AuthorityChange;
  /** Gives what has all the `selectors` (default: every process of this user) the SVID of `spiffeId`; lives as long as the server. */
  createEntry(spiffeId: string, selectors?: readonly string[]): Promise<void>;
  /** The SVID as the Workload API gives it, once it gives one that is wanted (default: any); throws after two minutes. */
  fetchSvid(spiffeId: string, isWanted?: (svid: X509Svid) => boolean): Promise<X509Svid>;
  /** The roots as PEM. */
  bundlePem(): Promise<string>;
  /** The roots and the keys of JWT-SVIDs as a SPIFFE bundle document. */
  bundleSpiffeJson(): Promise<string>;
  /** Kills the agent; what it knew is gone with it. */
  endAgent(): Promise<void>;
  /** Starts an agent at the same socket after `endAgent()`; resolves when it serves. It attests anew and makes every SVID anew. */
  startAgent(): Promise<void>;
  /** Every process it runs. */
  processes(): readonly Component[];
  /** Ends both and removes the folder. */
  stop(): Promise<void>;
}

const readyTimeoutMs = 120_000;
const svidTimeoutMs = 120_000;
const commandTimeoutMs = 30_000;

/** Starts server and agent; resolves when both serve, about two seconds later. The first time it builds them. */
export async function startSpire(options: SpireOptions = {}): Promise<Spire> {
  const paths = await ensureBinaries(spireBinaries, reportToStderr);
  sweepAbandonedDirs(options.tmpDir);
  const dir = makeOwnedDir(options.name ?? 'spire', options.tmpDir);
  const [server, serverHealth, agentHealth] = [await findFreePort(), await findFreePort(), await findFreePort()];
  const parts: Parts = {
    place: writeSpireFiles(dir, { server, serverHealth, agentHealth }, options),
    paths,
    running: [],
  };
  const spire = spireOf(parts);
  try {
    await startServer(parts);
    await startAgent(parts);
  } catch (error) {
    await spire.stop();
    throw error;
  }
  return spire;
}

interface Parts {
  readonly place: SpirePlace;
  readonly paths: BinaryPaths;
  /** Grows as components start. */
  readonly running: Component[];
}

const node = (trustDomain: string): string => `spiffe://${trustDomain}/lab-node`;
const agentName: BinaryName = 'spire-agent';
const ownProcesses: readonly string[] = [`unix:uid:${process.getuid?.() ?? 0}`];

function spireOf(parts: Parts): Spire {
  const { running } = parts;
  const { dir, trustDomain, serverSocket, agentSocket } = parts.place;
  return {
    trustDomain,
    dir,
    socketPath: agentSocket,
    authorities: authorityChange(pathOf(parts.paths, 'spire-server'), serverSocket),
    createEntry: async (spiffeId, selectors = ownProcesses) => {
      const entry = [
        '-parentID',
        node(trustDomain),
        '-spiffeID',
        spiffeId,
        ...selectors.flatMap((each) => ['-selector', each]),
      ];
      await askServer(parts, 'entry', 'create', ...entry);
    },
    fetchSvid: (spiffeId, isWanted = () => true) =>
      untilSvid(parts, (svid) => svid.spiffeId === spiffeId && isWanted(svid)),
    bundlePem: () => askServer(parts, 'bundle', 'show', '-format', 'pem'),
    bundleSpiffeJson: () => askServer(parts, 'bundle', 'show', '-format', 'spiffe'),
    endAgent: async () => {
      const at = running.findIndex(({ component }) => component === agentName);
      await endProcesses(at < 0 ? [] : running.splice(at, 1), 0);
    },
    startAgent: () => startAgent(parts),
    processes: () => [...running],
    stop: async () => {
      await endProcesses(running.splice(0), 0);
      rmSync(dir, { recursive: true, force: true, maxRetries: 3 });
    },
  };
}

async function startServer(parts: Parts): Promise<void> {
  const { place } = parts;
  const server = start(parts, 'spire-server', ['run', '-config', place.serverConfig]);
  await untilReady(server, () => isHealthy(place.ports.serverHealth), { timeoutMs: readyTimeoutMs });
}

async function startAgent(parts: Parts): Promise<void> {
  const { place } = parts;
  writeFileSync(place.bootstrapBundle, await askServer(parts, 'bundle', 'show', '-format', 'pem'));
  const token = await askServer(parts, 'token', 'generate', '-spiffeID', node(place.trustDomain), '-output', 'json');
  const { value } = JSON.parse(token) as { readonly value: string };
  const agent = start(parts, agentName, ['run', '-config', place.agentConfig, '-joinToken', value]);
  await untilReady(agent, () => isHealthy(place.ports.agentHealth), { timeoutMs: readyTimeoutMs });
}

function askServer({ place, paths }: Parts, ...parameters: readonly string[]): Promise<string> {
  const command = [...parameters, '-socketPath', place.serverSocket];
  return runCommand(pathOf(paths, 'spire-server'), command, { timeoutMs: commandTimeoutMs });
}

function start({ place, paths, running }: Parts, component: BinaryName, parameters: readonly string[]): Component {
  const { dir } = place;
  const program = pathOf(paths, component);
  const logPath = join(dir, 'log', `${component}.log`);
  const started = startComponent({ component, program, parameters, logPath, cwd: dir, endsWith: 'parent' });
  running.push(started);
  return started;
}

async function isHealthy(port: number): Promise<boolean> {
  try {
    const answer = await fetch(`http://127.0.0.1:${port}${readyPath}`, { signal: AbortSignal.timeout(5000) });
    await answer.body?.cancel();
    return answer.ok;
  } catch {
    return false;
  }
}

// The agent refuses until it has heard of an entry: that is no SVID yet, and no failure.
async function untilSvid({ place, running }: Parts, isWanted: (svid: X509Svid) => boolean): Promise<X509Svid> {
  const deadline = AbortSignal.timeout(svidTimeoutMs);
  for (;;) {
    try {
      for await (const svids of followX509Svids(place.agentSocket, deadline)) {
        const wanted = svids.find(isWanted);
        if (wanted !== undefined) return wanted;
      }
    } catch (error) {
      const ended = running.find((component) => !isRunning(component));
      if (ended !== undefined) throw componentError(ended, 'ended');
      const agent = running.at(-1);
      if (deadline.aborted && agent !== undefined) throw componentError(agent, 'gave no such SVID in two minutes');
      if (!(error instanceof WorkloadApiError && error.isWithoutIdentity)) throw error;
    }
    await sleep(100);
  }
}
