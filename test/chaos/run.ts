/** One chaos run: everything changes and everything is harmed for a while; then the harm ends, and all must come right. */

import { type AuditRequest, isWrite, textOf } from '../support/audit-log.ts';
import { type OperatorBed, startOperatorBed, untilIdle, untilLeading } from '../support/operator-bed.ts';
import { harmReplica, harmServer } from './faults.ts';
import { complaints } from './invariants.ts';
import { playKubelet } from './kubelet.ts';
import { pause } from './pause.ts';
import { randomFrom } from './random.ts';
import { startReplicas } from './replicas.ts';
import { usersOf } from './users.ts';

export interface ChaosOptions {
  readonly seed: number;
  readonly runtimes: number;
  readonly harmMs: number;
  /** Longest single fault. */
  readonly longestMs: number;
  /** How long convergence may take once the harm is over. */
  readonly convergeMs: number;
  readonly say: (line: string) => void;
}

export interface ChaosResult {
  /** Empty: all came right. */
  readonly complaints: readonly string[];
  readonly faults: ReadonlyMap<string, number>;
  readonly acts: ReadonlyMap<string, number>;
  readonly starts: number;
  /** Writes of the operator's account, Leases left out. */
  readonly writes: number;
  readonly convergedMs: number | undefined;
}

/** Runs to its end, and leaves nothing. */
export async function runChaos(options: ChaosOptions): Promise<ChaosResult> {
  const bed = await startOperatorBed('chaos');
  try {
    return await chaosOn(bed, options);
  } finally {
    await bed.stop();
  }
}

async function chaosOn(bed: OperatorBed, options: ChaosOptions): Promise<ChaosResult> {
  const { say, harmMs, longestMs } = options;
  const random = randomFrom(options.seed);
  const faults = new Map<string, number>();
  const harm = new AbortController();
  const end = new AbortController();
  const replicas = await startReplicas(bed);
  const kubelet: Promise<void>[] = [];
  try {
    const users = usersOf(bed.client, { runtimes: options.runtimes, random: random.fork('users') });
    await users.begin();
    kubelet.push(playKubelet(bed.client, users.namespaces, end.signal));
    say(`${users.subjects.length} workloads, harm for ${Math.round(harmMs / 1000)} s`);
    const timer = setTimeout(() => harm.abort(), harmMs);
    const count = (what: string): void => void faults.set(what, (faults.get(what) ?? 0) + 1);
    const victim = (name: string) => ({ random: random.fork(name), signal: harm.signal, longestMs, count });
    await within(
      'the harm',
      harmMs + 180_000,
      Promise.all([
        ...replicas.all.map((replica) => harmReplica(replica, victim(replica.name))),
        harmServer(bed, victim('server')),
        actUntil(() => users.act(), harm.signal, random.fork('pace')),
        tell(say, { harm: harm.signal, faults, done: users.done, starts: () => replicas.starts }),
      ]),
    );
    clearTimeout(timer);
    say('the harm is over');
    await within('asking once more for all that was asked', options.convergeMs, users.settle()).catch(
      async (error: unknown) => {
        throw new Error(`${String(error)}; ${await conditionOf(replicas)}`, { cause: error });
      },
    );
    say('all is as it was asked for');
    const begun = performance.now();
    const wrong = await converge(bed, users, options);
    const convergedMs = wrong.length === 0 ? performance.now() - begun : undefined;
    say(
      convergedMs === undefined ? `${wrong.length} complaints` : `converged after ${(convergedMs / 1000).toFixed(1)} s`,
    );
    for (const { metadata } of wrong.length === 0 ? [] : users.subjects.map(({ object }) => object)) {
      const { namespace = '', name = '' } = metadata;
      if (wrong.some((line) => line.includes(` ${namespace}/${name} `)))
        say(`${namespace}/${name}: ${writesOf(bed, namespace, name)}`);
    }
    const late =
      wrong.length === 0 ? await within('the end of both and a fresh start', 180_000, afterwards(bed, replicas)) : [];
    return {
      complaints: [...wrong, ...late, ...replicas.crashes],
      faults,
      acts: users.done,
      starts: replicas.starts,
      writes: bed.audit.requests().filter((request) => isWrite(request) && request.objectRef?.resource !== 'leases')
        .length,
      convergedMs,
    };
  } finally {
    harm.abort();
    end.abort();
    await Promise.all(kubelet);
    await replicas.close();
  }
}

/** What the operator wrote to the workload of that name, by whom and when: for a complaint about it. */
function writesOf({ audit }: OperatorBed, namespace: string, name: string): string {
  const isIts = ({ objectRef }: AuditRequest): boolean =>
    objectRef?.namespace === namespace && objectRef.name === name && /^(apps|batch)$/.test(objectRef.apiGroup ?? '');
  const writes = audit.requests().filter((request) => isWrite(request) && isIts(request));
  return writes
    .map((request) => {
      const { responseStatus, requestReceivedTimestamp, userAgent = '' } = request;
      return `${requestReceivedTimestamp.slice(11, 23)} ${userAgent.split('/').at(-1)} ${textOf(request)} ${responseStatus?.code}`;
    })
    .join(', ');
}

/** Each replica in one line: for when nothing can be done any more, and the question is who does not serve. */
async function conditionOf({ all }: Awaited<ReturnType<typeof startReplicas>>): Promise<string> {
  const lines = all.map(async ({ name, current }) => {
    const readiness = await current?.readiness();
    const failing = readiness?.checks.filter(({ ok }) => !ok).map((check) => `${check.name}: ${check.reason ?? ''}`);
    const last = current?.lines.slice(-3).map((line) => JSON.stringify(line));
    return `${name} ${current?.isRunning ? `${readiness === undefined ? 'does not answer' : 'answers'} (${failing?.join(', ') ?? ''}) ${last?.join(' ')}` : 'does not run'}`;
  });
  return (await Promise.all(lines)).join('; ');
}

/** The promise, or an error that names the phase which took too long: a run that hangs must say where. */
async function within<T>(what: string, ms: number, promise: Promise<T>): Promise<T> {
  const late = new AbortController();
  const tooLate = async (): Promise<T> => {
    await pause(ms, late.signal);
    if (late.signal.aborted) return promise;
    throw new Error(`${what} took longer than ${ms / 1000} s`);
  };
  try {
    return await Promise.race([promise, tooLate()]);
  } finally {
    late.abort();
  }
}

async function actUntil(
  act: () => Promise<void>,
  signal: AbortSignal,
  random: ReturnType<typeof randomFrom>,
): Promise<void> {
  while (!signal.aborted) {
    await act();
    await pause(random.between(20, 600), signal);
  }
}

type Users = ReturnType<typeof usersOf>;

/** Looks until nothing is wrong, or the time is over; returns what is wrong then. */
async function converge(
  bed: OperatorBed,
  { namespaces, subjects }: Users,
  { convergeMs }: ChaosOptions,
): Promise<readonly string[]> {
  const end = performance.now() + convergeMs;
  for (;;) {
    const wrong = await complaints(bed.client, namespaces, subjects).catch((error: unknown) => [String(error)]);
    if (wrong.length === 0 || performance.now() > end) return wrong;
    await pause(500);
  }
}

/** The processes end in order; and one that knows nothing of what was finds nothing to write: every status is what it would say. */
async function afterwards(
  bed: OperatorBed,
  replicas: Awaited<ReturnType<typeof startReplicas>>,
): Promise<readonly string[]> {
  replicas.stop();
  const ends = await Promise.all(
    replicas.all.map(async ({ current }) => {
      const exit = await current?.stop();
      return exit === undefined || exit.code === 0
        ? []
        : [`${current?.name ?? ''} ended with ${exit.code ?? exit.signal ?? ''} on SIGTERM`];
    }),
  );
  const from = bed.audit.position;
  const fresh = await bed.startReady('fresh');
  await untilLeading(fresh);
  await untilIdle(fresh);
  const written = bed.audit
    .since(from)
    .filter((request) => isWrite(request) && !isHousekeeping(request.objectRef?.resource));
  const exit = await fresh.stop();
  return [
    ...ends.flat(),
    ...(exit.code === 0 ? [] : ['the fresh process did not end in order']),
    ...written.map((request) => `a fresh process found something to write: ${textOf(request)}`),
  ];
}

const isHousekeeping = (resource = ''): boolean => resource === 'leases';

interface Telling {
  readonly harm: AbortSignal;
  readonly faults: ReadonlyMap<string, number>;
  readonly done: ReadonlyMap<string, number>;
  readonly starts: () => number;
}

/** A line a minute, so that a long run is not silent. */
async function tell(say: (line: string) => void, { harm, faults, done, starts }: Telling): Promise<void> {
  const sum = (counts: ReadonlyMap<string, number>): number => [...counts.values()].reduce((all, one) => all + one, 0);
  while (!harm.aborted) {
    await pause(60_000, harm);
    say(`${sum(done)} changes, ${sum(faults)} faults, ${starts()} starts`);
  }
}
