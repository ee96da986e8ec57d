/** Agents whose cards are fetched and verified in their rhythm while nothing changes: what it costs to keep looking. */

import http from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { CardProps } from '../../constructs/verification.ts';
import { agentCardDefaults } from '../../runtime/api/agent-card.ts';
import { kinds } from '../../runtime/api/kinds.ts';
import type { Deployment } from '../../runtime/api/kubernetes.ts';
import { labels, spiffeId } from '../../runtime/api/names.ts';
import type { Client } from '../../runtime/engine/client.ts';
import type { Fragment, ObjectKey } from '../../runtime/engine/types.ts';
import { ownAddress } from '../support/own-address.ts';
import { type Authority, createAuthority, signedCard } from '../support/svid.ts';
import { inParallel } from './api-objects.ts';
import { type BenchBed, startBenchBed } from './bed.ts';
import { ends } from './cleanup.ts';
import { createAccounts, createPods } from './enrolled-pods.ts';
import type { Finding } from './figures.ts';
import { createDeployments, deployment, enrol, planFleet } from './fleet.ts';
import { untilPlaneRests } from './plane-usage.ts';
import { isWrite } from './start.ts';
import type { World } from './world.ts';

const bundle = { namespace: 'default', name: 'bench-bundle' };
const cards: CardProps = {
  verification: { requireSignature: true, trustBundle: bundle },
  networkPolicies: { enforce: true },
};
const width = 16;

export async function measureCards(world: World): Promise<Finding> {
  const fleet = planFleet('cards', world.size(1_000));
  const count = fleet.keys.length;
  const seconds = world.size(180);
  world.say(`cards: ${count} agents`);
  const authority = await createAuthority('bench');
  const address = ownAddress();
  const agents = await serveCards(fleet.keys, authority, address);
  // No controllers: they would delete pods that no ReplicaSet has asked for.
  const bed = await startBenchBed({ name: 'cards', bundle: world.bundle, withControllerManager: false, cards });
  await trust(bed.client, authority);
  await createDeployments(bed.client, fleet, (key, index) => speaking(key, agents.ports[index] ?? 0));
  await createAccounts(bed.client, fleet.namespaces);
  const operator = await bed.operator();
  await operator.untilReady();
  await enrol(bed.users, fleet);
  await createPods(bed.client, fleet.keys, { each: 1, seconds: 300 });
  const appeared = performance.now();
  const from = Date.now();
  const cpu = operator.usage().cpuMs;
  await markReady(bed.client, fleet.namespaces, address);
  await untilVerified(bed, count);
  const opening = { seconds: (performance.now() - appeared) / 1000, cpuMs: (operator.usage().cpuMs - cpu) / count };
  await bed.audit.untilQuiet(from);
  const requests = bed.audit.since(from).length / count;
  await untilPlaneRests(bed);
  world.say(`cards: ${seconds} s at rest`);
  const rest = await atRest(bed, seconds);
  await bed.stop();
  await agents.close();
  const minutes = seconds / 60;
  return {
    title: `cards: ${count} agents, asked every ${agentCardDefaults.syncPeriodMs / 1000} s`,
    how: `Each agent serves a card of ${agents.bytes} bytes, signed by an SVID of its own, on a port of this machine, without an ETag. Pods become ready all at once; then ${seconds} s in which nothing changes: every card is fetched in its rhythm and found to be the same.`,
    figures: [
      { what: 'from the first ready pod until every card is verified', value: opening.seconds, unit: 's' },
      { what: '… CPU of the operator a card', value: opening.cpuMs, unit: 'ms' },
      { what: '… requests a card until quiet', value: requests, unit: '' },
      { what: 'at rest: fetches', value: rest.fetches / minutes / count, unit: '/card and min' },
      {
        what: '… API requests',
        value: rest.requests / minutes / count,
        unit: '/card and min',
        goal: { atMost: 0.1, why: 'nothing changes, so nothing should be asked' },
      },
      { what: '… writes', value: rest.writes, unit: '', goal: { atMost: 0, why: 'nothing changes' } },
      { what: '… CPU of the operator', value: rest.cpuPercent, unit: '% of a core' },
      { what: '… CPU a fetch', value: rest.cpuMs / rest.fetches, unit: 'ms' },
      { what: '… RSS', value: rest.rssMib, unit: 'MiB' },
    ],
  };
}

async function serveCards(keys: readonly Required<ObjectKey>[], authority: Authority, address: string) {
  const servers: http.Server[] = [];
  const ports: number[] = [];
  let bytes = 0;
  await inParallel(keys, width, async ({ namespace, name }, index) => {
    const svid = await authority.issue(spiffeId('cluster.local', namespace, name));
    const body = signedCard(cardOf(namespace, name), svid);
    const server = http.createServer((_, response) => {
      response.setHeader('content-type', 'application/json').end(body);
    });
    await new Promise<void>((listening) => server.listen(0, address, listening));
    const place = server.address();
    ports[index] = place !== null && typeof place === 'object' ? place.port : 0;
    bytes = Buffer.byteLength(body);
    servers.push(server);
  });
  const close = ends(async () => {
    for (const server of servers) server.close().closeAllConnections();
    await Promise.resolve();
  });
  return { ports, bytes, close };
}

function cardOf(namespace: string, name: string) {
  return {
    protocolVersion: '0.3.0',
    name,
    description: 'An agent of the benchmark, which answers nothing but its card.',
    version: '1.0.0',
    url: `http://${name}.${namespace}.svc:8080/`,
    preferredTransport: 'JSONRPC',
    capabilities: { streaming: true, pushNotifications: false },
    defaultInputModes: ['text/plain'],
    defaultOutputModes: ['text/plain'],
    skills: ['forecast', 'history', 'alerts'].map((id) => ({
      id,
      name: id,
      description: `The skill ${id}.`,
      tags: [id],
    })),
  };
}

async function trust(client: Client, authority: Authority): Promise<void> {
  const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: bundle, data: { 'bundle.crt': authority.pem } };
  await client.create(kinds.configMap, body);
}

/** Says that it is an agent of A2A, and where its card is. */
function speaking(key: Required<ObjectKey>, port: number): Deployment {
  const plain = deployment(key);
  const { template } = plain.spec;
  const containers = template.spec?.containers.map((container) => ({
    ...container,
    ports: [{ name: 'a2a', containerPort: port }],
  }));
  return {
    ...plain,
    metadata: { ...plain.metadata, labels: { ...plain.metadata.labels, [`${labels.protocolPrefix}a2a`]: '' } },
    spec: { ...plain.spec, template: { ...template, spec: { ...template.spec, containers } } },
  } as Deployment;
}

/** The kubelet's part. */
async function markReady(client: Client, namespaces: readonly string[], address: string): Promise<void> {
  const status = {
    phase: 'Running',
    podIP: address,
    podIPs: [{ ip: address }],
    conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z' }],
  };
  for (const namespace of namespaces) {
    const { items } = await client.list(kinds.pod, { namespace });
    await inParallel(items, width, ({ metadata: { name = '' } }) => {
      const body = { apiVersion: 'v1', kind: 'Pod', metadata: { namespace, name }, status } as Fragment['body'];
      return client.apply({ kind: kinds.pod, body }, { fieldManager: 'kubelet', subresource: 'status' });
    });
  }
}

async function untilVerified(bed: BenchBed, count: number): Promise<void> {
  const running = await bed.operator();
  while ((await running.metric('rossoctl_agentcards{verified="true"}')) < count) await sleep(250);
}

async function atRest(bed: BenchBed, seconds: number) {
  const operator = await bed.operator();
  const fetched = () => operator.metric('rossoctl_agentcard_fetches_total');
  const [before, fetches, from, begun] = [operator.usage().cpuMs, await fetched(), Date.now(), performance.now()];
  await sleep(seconds * 1000);
  const after = operator.usage();
  const requests = bed.audit.since(from);
  const cpuMs = after.cpuMs - before;
  return {
    fetches: (await fetched()) - fetches,
    requests: requests.length,
    writes: requests.filter(isWrite).length,
    cpuMs,
    cpuPercent: (cpuMs / (performance.now() - begun)) * 100,
    rssMib: after.rssMib,
  };
}
