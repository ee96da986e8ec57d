/** Many AgentRuntimes on existing Deployments: time, requests and CPU until all are enrolled, and until the operator is quiet. */

import type { AuditedRequest } from './audit.ts';
import type { BenchBed } from './bed.ts';
import { type Figure, type Finding, numberText } from './figures.ts';
import { createDeployments, enrol, type Enrolment, type Fleet, planFleet } from './fleet.ts';
import { peer } from './peer.ts';
import type { Usage } from './process-usage.ts';
import { planeCpuSeconds } from './plane-usage.ts';
import { plainWritesPerSecond } from './plain-writes.ts';
import { percentile, tally } from './statistics.ts';
import type { World } from './world.ts';

export interface Enrolled {
  readonly bed: BenchBed;
  readonly fleet: Fleet;
  readonly enrolment: Enrolment;
  /** Until all were enrolled. */
  readonly requestsUntilReady: number;
  /** Until quiet. */
  readonly requests: readonly AuditedRequest[];
  /** From the last runtime's enrolment to the last request, in seconds. */
  readonly quietAfter: number;
  readonly cpuSeconds: number;
  /** Of etcd, the API server and the controller manager meanwhile. */
  readonly planeCpuSeconds: number;
  readonly usage: Usage;
}

/** Creates the Deployments, restarts the operator, creates the AgentRuntimes, and waits for quiet. */
export async function enrolFleet(bed: BenchBed, fleet: Fleet): Promise<Enrolled> {
  await createDeployments(bed.client, fleet);
  const operator = await bed.restartOperator();
  await operator.untilReady();
  await bed.webhookAuthority();
  await bed.audit.untilQuiet(Date.now());
  const before = operator.usage().cpuMs;
  const planeBefore = planeCpuSeconds(bed);
  const from = Date.now();
  const enrolment = await enrol(bed.users, fleet);
  const readyAt = Date.now();
  const last = await bed.audit.untilQuiet(from);
  const requests = ofFleet(fleet, bed.audit.since(from));
  const usage = operator.usage();
  return {
    bed,
    fleet,
    enrolment,
    requests,
    usage,
    requestsUntilReady: requests.filter(({ at }) => at <= readyAt).length,
    quietAfter: Math.max(0, last - readyAt) / 1000,
    cpuSeconds: (usage.cpuMs - before) / 1000,
    planeCpuSeconds: planeCpuSeconds(bed) - planeBefore,
  };
}

export function newFleet(world: World): Fleet {
  return planFleet('fleet', world.size(500));
}

/** The requests in the fleet's namespaces: other workloads on the bed have theirs. */
export function ofFleet({ namespaces }: Fleet, requests: readonly AuditedRequest[]): readonly AuditedRequest[] {
  return requests.filter(({ namespace }) => namespaces.includes(namespace));
}

/** `0.5 list agentruntimes, …`, for each of `count`. */
export function breakdown(requests: readonly AuditedRequest[], count: number): string {
  return tally(requests.map(({ verb, resource }) => `${verb} ${resource}`))
    .map(([what, times]) => `${(times / count).toFixed(2)} ${what}`)
    .join(', ');
}

export async function reportEnrolment(world: World): Promise<Finding> {
  world.say('enrol: Deployments, then AgentRuntimes');
  const { bed, fleet, enrolment, requests, requestsUntilReady, quietAfter, cpuSeconds, planeCpuSeconds, usage } =
    await world.enrolled();
  const count = fleet.keys.length;
  world.say('enrol: the same writes by a plain client');
  const plain = await plainWritesPerSecond(bed.client, world.size(100));
  const theirs = peer.enrol;
  const isWhole = !world.isQuick;
  const figures: readonly Figure[] = [
    {
      what: `all ${count} carry the hash and are Ready`,
      value: enrolment.seconds,
      unit: 's',
      goal: {
        atMost: 8,
        why: 'it waits for the API server: see the CPU that this and the controllers use, and the rate of a plain client',
      },
      ...(isWhole ? { peer: theirs.seconds } : {}),
      note: `the last AgentRuntime was created after ${enrolment.creating.toFixed(1)} s`,
    },
    {
      what: '… runtimes a second',
      value: count / enrolment.seconds,
      unit: '/s',
      ratio: `a plain client that sends the same writes, 8 at a time, and thinks nothing: ${numberText(plain)}/s in this run`,
    },
    {
      what: '… each, p50',
      value: percentile(enrolment.latencies, 0.5),
      unit: 'ms',
      ...(isWhole ? { peer: theirs.p50 } : {}),
    },
    { what: '… each, p99', value: percentile(enrolment.latencies, 0.99), unit: 'ms' },
    {
      what: 'requests a runtime until then',
      value: requestsUntilReady / count,
      unit: '',
      peer: theirs.requestsUntilReady,
    },
    {
      what: 'requests a runtime until quiet',
      value: requests.length / count,
      unit: '',
      goal: {
        atMost: 4,
        why: 'the fifth is the list by which the validating webhook makes sure that the target is free',
      },
      peer: theirs.requestsInAll,
      note: breakdown(requests, count),
    },
    { what: 'last request after the last enrolment', value: quietAfter, unit: 's', goal: { atMost: 1 } },
    {
      what: 'CPU of the operator until quiet',
      value: cpuSeconds,
      unit: 's',
      goal: { atMost: 6 },
      ...(isWhole ? { peer: theirs.cpuSeconds } : {}),
    },
    {
      what: 'CPU of etcd, API server and controller manager meanwhile',
      value: planeCpuSeconds,
      unit: 's',
      note: 'they share the cores, so this divided by their number is the least time it can take here',
    },
    {
      what: 'RSS afterwards',
      value: usage.rssMib,
      unit: 'MiB',
      goal: { atMost: 150, why: 'about 45 MiB are Node itself' },
      ...(isWhole ? { peer: peer.memory.fleet } : {}),
    },
    { what: 'RSS at its peak', value: usage.peakMib, unit: 'MiB' },
  ];
  return {
    title: `enrol: ${count} AgentRuntimes on existing Deployments`,
    how: `${count} Deployments with 0 replicas (no node runs pods here) in ${fleet.namespaces.length} namespaces exist; the operator has just been started. The AgentRuntimes are created by 16 writers as fast as the API server answers, the validating webhook included. A watch sees when each Deployment carries the hash and its runtime is Ready. Requests are those of the operator's account in the audit log, without lease renewals and watches.`,
    figures,
  };
}
