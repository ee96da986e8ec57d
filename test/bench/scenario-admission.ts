/** Admissions straight at the webhook, at three concurrencies and in every mode, against a bare server of the same run. */

import { spawn } from 'node:child_process';
import { connect } from 'node:net';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { kinds } from '../../runtime/api/kinds.ts';
import { configMaps, install, webhooks } from '../../runtime/api/names.ts';
import { findFreePort } from '../lab/ports.ts';
import { applyObject } from './api-objects.ts';
import type { BenchBed } from './bed.ts';
import { ends } from './cleanup.ts';
import type { Figure, Finding } from './figures.ts';
import { agentRuntime, deployment } from './fleet.ts';
import { agentNamespace } from './installation.ts';
import { type Loaded, load } from './load-client.ts';
import { imageFlags } from './operator-process.ts';
import { peer } from './peer.ts';
import { replicaSetOf, reviewOf } from './review.ts';
import type { World } from './world.ts';

export const agent = { namespace: agentNamespace, name: 'weather-agent' } as const;
const concurrencies = [1, 8, 32] as const;

/** The one workload of the admission scenarios, enrolled; made once. */
export async function enrolledAgent(bed: BenchBed) {
  const { client } = bed;
  await bed.operator();
  const known = await client.list(kinds.agentRuntime, { namespace: agent.namespace });
  if (known.items.length === 0) {
    await client.create(kinds.deployment, deployment(agent));
    await bed.webhookAuthority();
    await client.create(kinds.agentRuntime, agentRuntime(agent));
  }
  return replicaSetOf(client, agent);
}

async function settings(bed: BenchBed, mode: string, isPerWorkload: boolean): Promise<void> {
  const set = (name: string, key: string, text: string) =>
    applyObject(bed.client, {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { namespace: install.namespace, name },
      data: { [key]: text },
    } as never);
  await set(configMaps.platform.name, configMaps.platform.key, `authBridge: { mode: ${mode} }\n`);
  await set(configMaps.gates.name, configMaps.gates.key, `perWorkloadConfigResolution: ${isPerWorkload}\n`);
  await bed.audit.untilQuiet(Date.now(), 1_000);
}

/** The Go operator was measured in this mode. */
const peerMode = 'proxy-sidecar';

export async function measureAdmission(world: World): Promise<Finding> {
  const bed = await world.bed();
  const replicaSet = await enrolledAgent(bed);
  const { pid } = await bed.operator();
  const body = await reviewOf(bed.client, agent, replicaSet);
  const url = `https://127.0.0.1:${bed.webhookPort}${webhooks.inject.path}?timeout=10s`;
  const ca = await bed.webhookAuthority();
  const run = (connections: number, full: number): Promise<Loaded> =>
    load({ url, ca, body, connections, warmUp: world.size(1_000), requests: world.size(full) }, pid);

  await settings(bed, peerMode, false);
  const figures: Figure[] = [];
  const measured: Loaded[] = [];
  for (const connections of concurrencies) {
    world.say(`admission: ${connections} connections`);
    measured.push(await run(connections, 3_000));
  }
  const bytes = Buffer.byteLength(measured[0]?.body ?? '');
  const bare = await startEcho(bed, bytes);
  for (const [index, connections] of concurrencies.entries()) {
    const ours = measured[index];
    if (ours === undefined) continue;
    const { bare: url, ca } = bare;
    const job = { url, ca, body, connections, warmUp: world.size(1_000), requests: world.size(3_000) };
    figures.push(...atConcurrency(connections, ours, await load(job, bare.pid)));
  }
  await bare.end();
  const asked = measured.map(({ from, seconds }) =>
    bed.audit.since(from).filter(({ at }) => at <= from + seconds * 1000),
  );
  figures.push({
    what: 'API requests during all of these',
    value: asked.flat().length,
    unit: '',
    goal: { atMost: 0, why: 'something else made the operator ask' },
    note: `Go operator: ${peer.admission.requestsEach} in each admission`,
  });
  for (const mode of ['envoy-sidecar', 'proxy-sidecar']) {
    for (const isPerWorkload of [false, true]) {
      world.say(`admission: ${mode}, perWorkloadConfigResolution ${isPerWorkload}`);
      await settings(bed, mode, isPerWorkload);
      const { perSecond, p50, cpuMsEach } = await run(8, 2_000);
      const what = `${mode}, perWorkloadConfigResolution ${isPerWorkload}, 8 connections`;
      figures.push(
        { what, value: perSecond, unit: 'req/s' },
        { what: '… p50', value: p50, unit: 'ms' },
        { what: '… CPU', value: cpuMsEach, unit: 'ms each', goal: { atMost: 0.7, why: cpuReason } },
      );
    }
  }
  world.say('admission: once warm');
  const warm = await load(
    { url, ca, body, connections: 8, warmUp: world.size(15_000), requests: world.size(3_000) },
    pid,
  );
  figures.push(
    { what: `after ${world.size(15_000)} more requests, 8 connections`, value: warm.perSecond, unit: 'req/s' },
    { what: '… CPU', value: warm.cpuMsEach, unit: 'ms each', goal: { atMost: 0.7, why: cpuReason } },
  );
  return {
    title: 'admission: straight at the webhook',
    how: `One workload, its AgentRuntime and its ReplicaSet are in the operator's cache. A process of its own posts the AdmissionReview of one of its pods (${Buffer.byteLength(body)} bytes; the answer with its patch has ${bytes}) over kept-alive TLS connections, ${world.size(1_000)} times to warm up before each row. ${peerMode} mode unless said otherwise. The bare server is fastify over HTTPS in a process with the same Node flags; it parses the same body and answers a constant of the same size.`,
    figures,
  };
}

const cpuReason = 'other work on the cores empties the caches';

function atConcurrency(connections: (typeof concurrencies)[number], ours: Loaded, bare: Loaded): readonly Figure[] {
  const theirs = peer.admission[connections];
  const of = (mine: number, other: number): string => `${(mine / other).toFixed(2)} of the bare server`;
  const at = `${connections} ${connections === 1 ? 'connection' : 'connections'}`;
  const why = 'client, server and whatever else runs share the cores: the CPU of each request is the firmer figure';
  return [
    {
      what: at,
      value: ours.perSecond,
      unit: 'req/s',
      goal: { atLeast: theirs.perSecond * 10, why },
      peer: theirs.perSecond,
      ratio: of(ours.perSecond, bare.perSecond),
    },
    {
      what: '… p50',
      value: ours.p50,
      unit: 'ms',
      peer: theirs.p50,
      ratio: of(ours.p50, bare.p50),
      ...(connections === 1 ? { goal: { atMost: 1.5, why } } : {}),
    },
    { what: '… p99', value: ours.p99, unit: 'ms', peer: theirs.p99, ratio: of(ours.p99, bare.p99) },
    {
      what: '… CPU',
      value: ours.cpuMsEach,
      unit: 'ms each',
      goal: { atMost: 0.7, why: cpuReason },
      peer: theirs.cpuMs,
      ratio: of(ours.cpuMsEach, bare.cpuMsEach),
    },
  ];
}

/** With the API server's certificate, which is at hand and good for 127.0.0.1. */
async function startEcho(bed: BenchBed, bytes: number) {
  const port = await findFreePort();
  const file = (name: string): string => path.join(bed.plane.certificatesDir, name);
  const files = [file('kube-apiserver.crt'), file('kube-apiserver.key')];
  const program = path.join(import.meta.dirname, 'echo.ts');
  const child = spawn(process.execPath, [...imageFlags, program, ...files, String(port), String(bytes)], {
    stdio: 'ignore',
  });
  const end = ends(async () => void child.kill('SIGKILL'));
  while (!(await isListening(port))) await sleep(20);
  return { bare: `https://127.0.0.1:${port}/`, ca: bed.admin.ca, pid: child.pid ?? 0, end };
}

function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' }, () => {
      socket.destroy();
      resolve(true);
    });
    socket.on('error', () => resolve(false));
  });
}
