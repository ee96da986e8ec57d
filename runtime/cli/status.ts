/** `rossoctl status`: the AgentRuntimes of a cluster on one screen. */

import { kinds } from '../api/kinds.ts';
import { labels } from '../api/names.ts';
import type { KubeObject, LiveReader } from '../engine/types.ts';
import { rowOf, type WorkloadRow, workloadRows } from '../workload/kinds.ts';
import type { Arguments } from './arguments.ts';
import { CliError, exitCodes } from './cli-error.ts';
import type { Command, Terminal } from './command.ts';
import { clusterFlags, connectionOf } from './connection.ts';
import { givenNamespace } from './input.ts';
import { type ClusterView, statusLines } from './status-view.ts';

export const statusCommand: Command = {
  name: 'status',
  summary: 'show the AgentRuntimes of a cluster, their pods by configuration, and what is wrong',
  usage: 'rossoctl status [-n NAMESPACE] [flags]',
  help: `Reads AgentRuntimes, their workloads and pods and shows them on one screen: errors first, then what waits, then warnings.
CURRENT, OTHER and BARE count running pods: injected from the configuration of now, from another one, and without sidecars.
Exit code: 0 shown, 2 wrong usage or the cluster cannot be read.`,
  flags: [
    { name: 'namespace', short: 'n', value: 'NAME', help: 'only this namespace (default: all)' },
    ...clusterFlags,
  ],
  run,
};

async function run(given: Arguments, terminal: Terminal): Promise<number> {
  const [unexpected] = given.positionals;
  if (unexpected !== undefined) throw new CliError(`unexpected argument ${unexpected}; status takes flags only`);
  const namespace = givenNamespace(given);
  try {
    const view = await withReader(given, (reader) => readView(reader, namespace));
    terminal.out(`${statusLines(view).join('\n')}\n`);
    return exitCodes.ok;
  } catch (error) {
    throw unreadable(error, namespace);
  }
}

/** The engine's client is loaded here only: the other commands need no network. */
async function withReader<T>(given: Arguments, read: (reader: LiveReader) => Promise<T>): Promise<T> {
  const [{ createClient, liveReader }, { systemClock }, { unlimited }, { createMetrics }, { createTransport }] =
    await Promise.all([
      import('../engine/client.ts'),
      import('../engine/clock.ts'),
      import('../engine/limiter.ts'),
      import('../engine/metrics.ts'),
      import('../engine/transport.ts'),
    ]);
  const metrics = createMetrics({ process: false });
  const shared = { connection: await connectionOf(given), clock: systemClock, metrics, limiter: unlimited };
  const client = createClient(createTransport({ ...shared, userAgent: 'rossoctl', deadlineMs: 15_000 }));
  try {
    return await read(liveReader(client));
  } finally {
    await client.close();
  }
}

async function readView(reader: LiveReader, namespace: string | undefined): Promise<ClusterView> {
  const where = namespace === undefined ? {} : { namespace };
  const enrolled = { ...where, labels: `${labels.type} in (agent,tool)` };
  const [runtimes, pods, replicaSets] = await Promise.all([
    reader.list(kinds.agentRuntime, where),
    reader.list(kinds.pod, enrolled),
    reader.list(kinds.replicaSet, enrolled),
  ]);
  if (namespace !== undefined && runtimes.length === 0) await refuseUnknown(reader, namespace);
  const targeted = new Set(runtimes.map(({ spec }) => rowOf(spec.targetRef)));
  const wantsJobs = runtimes.some(({ spec }) => spec.targetRef.kind === 'CronJob');
  const read = await Promise.all(
    workloadRows.filter((row) => targeted.has(row)).map((row) => readWorkloads(reader, row, where)),
  );
  const workloads = read.flatMap((found) => ('objects' in found ? found.objects : []));
  const unread = read.flatMap((found) => ('unread' in found ? [found.unread] : []));
  const jobs = wantsJobs ? await reader.list(kinds.job, where) : [];
  return { runtimes, pods, between: [...replicaSets, ...jobs], workloads, unread };
}

type Workloads = { readonly objects: readonly KubeObject[] } | { readonly unread: string };

/** Whoever may not read a kind of workload still sees the rest. */
async function readWorkloads(
  reader: LiveReader,
  { watch, kind }: WorkloadRow,
  where: { readonly namespace?: string },
): Promise<Workloads> {
  try {
    return { objects: await reader.list(watch.kind, where) };
  } catch (error) {
    if (error instanceof Error && 'status' in error && error.status === 403) return { unread: `${kind}s` };
    throw error;
  }
}

/** A namespace that does not exist has no AgentRuntimes either, and is most likely a slip. Who may not read it is not told. */
async function refuseUnknown(reader: LiveReader, name: string): Promise<void> {
  const found = await reader.get(kinds.namespace, { name }).catch((error: unknown) => {
    if (isForbidden(error)) return 'unknown';
    throw error;
  });
  if (found === undefined) throw new CliError(`the cluster has no namespace ${name}; leave -n out to see all`);
}

function isForbidden(error: unknown): boolean {
  return error instanceof Error && 'status' in error && error.status === 403;
}

/** A failure of the world as one sentence with what to do; a bug stays what it is. */
function unreadable(error: unknown, namespace: string | undefined): unknown {
  if (!(error instanceof Error) || !('code' in error)) return error;
  const { status, reason } = error as Error & { readonly status?: number; readonly reason?: string };
  if (status === 404)
    return new CliError(
      'the cluster has no AgentRuntimes: is the platform installed? (CRD agentruntimes.agent.rossoctl.dev)',
    );
  if (status === 403 && namespace === undefined)
    return new CliError(`${error.message}; name a namespace you may read with -n`);
  return new CliError(`the cluster cannot be read: ${reason ?? ''} ${error.message}`.replace('  ', ' '));
}
