/** How long a person waits: for a platform on an empty cluster, and for an agent's first answer; and what the sidecar of that agent takes. */

import assert from 'node:assert/strict';
import { kinds } from '../../runtime/api/kinds.ts';
import { readSettings } from '../../stacks/environments.ts';
import { operatorImage, startNode } from '../node-cluster/node-bed.ts';
import { startProject } from '../pulumi-cluster/project.ts';
import { type SidecarBed, startSidecarBed } from '../sidecar-cluster/bed.ts';
import { deployment, service } from '../sidecar-cluster/objects.ts';
import { keyServer, tool } from '../sidecar-cluster/programs.ts';
import { eventually } from '../support/engine-bed.ts';
import { createIssuer } from '../support/issuer.ts';
import { applyAll } from '../support/operator-platform.ts';
import { namespaceDefaults, putConfigMap, runtimeFor } from '../support/workload-objects.ts';
import { ends } from './cleanup.ts';
import type { Figure, Finding } from './figures.ts';
import { calling, looking, untilOk, waitingAgent } from './ready-programs.ts';
import { percentile } from './statistics.ts';
import type { World } from './world.ts';

const namespace = 'team1';
const issuer = `http://idp.${namespace}.svc:8080/realms/agents`;
const url = 'http://agent:8080/';

type Place = readonly [deployment: string, container: string];
const caller: Place = ['tool', 'app'];
const sidecar: Place = ['agent', 'envoy-proxy'];

interface Part {
  readonly pid: number;
  readonly name: string;
  /** KiB. */
  readonly now: number;
  readonly peak: number;
  /** Of now, what no other process shares: the rest is pages of the program's file. */
  readonly own: number;
}

interface Looked {
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly processes: readonly Part[];
}

export async function measureReady(world: World): Promise<Finding> {
  const rounds = world.isQuick ? 1 : 5;
  const platform = await platformSeconds(world, world.isQuick ? 1 : 3);
  world.say('ready: a node with the platform and the real sidecar');
  const bed = await startSidecarBed(namespace);
  const stop = ends(bed.stop);
  const token = await withIssuer(bed);
  const answers: number[] = [];
  const starts: number[] = [];
  for (let round = 1; round <= rounds; round += 1) {
    world.say(`ready: an agent, ${round} of ${rounds}`);
    if (round > 1) await withoutAgent(bed);
    answers.push(await secondsToFirstAnswer(bed, token));
    starts.push(await startMs(bed));
  }
  world.say('ready: memory of the sidecar');
  const idle = await look(bed);
  const told = await inPod<{ ok: number; failed: number }>(bed, caller, calling, url, token, '64', '10');
  assert.equal(told.failed, 0, 'every call is answered');
  const loaded = await look(bed);
  await stop();
  return {
    title: 'ready: a platform, an agent, its sidecar',
    how: `On a node of this machine with the images loaded; each number is a median. The platform is installed by the real Pulumi CLI, which waits for two replicas that serve. An agent is applied as a Deployment, a Service and an AgentRuntime together; a caller in another pod asks it every 20 ms with a token. The memory is what processes hold resident, after that and at its peak under 64 connections for 10 s (${told.ok.toLocaleString('en-US')} calls).`,
    figures: [
      { what: 'the platform: pulumi up on an empty cluster until it is ready', value: platform, unit: 's' },
      {
        what: 'an agent: from apply to its first answer to a call with a token',
        value: percentile(answers, 0.5),
        unit: 's',
        goal: { atMost: 30 },
      },
      {
        what: 'its sidecar: from the start of its program until it is ready',
        value: percentile(starts, 0.5),
        unit: 'ms',
        goal: { atMost: 2_000 },
      },
      ...memoryFigures('at rest', idle, ({ now }) => now),
      ...memoryFigures(
        'at rest, without pages of program files, which all pods of a node share',
        idle,
        ({ own }) => own,
      ),
      ...memoryFigures('under load, peak', loaded, ({ peak }) => peak),
    ],
  };
}

/** Up and away again each time: the first finds images and plugins as the others do. */
async function platformSeconds(world: World, rounds: number): Promise<number> {
  const node = await startNode();
  const stop = ends(node.stop);
  const project = await startProject({ dir: node.folder, kubeconfig: node.kubeconfig, hasNodes: true });
  const settings = readSettings('local', { image: operatorImage });
  assert.ok('platform' in settings);
  const stack = await project.stack('local', { platform: { ...settings.platform } });
  const seconds: number[] = [];
  for (let round = 1; round <= rounds; round += 1) {
    world.say(`ready: the platform, ${round} of ${rounds}`);
    const began = performance.now();
    await stack.run('up');
    seconds.push((performance.now() - began) / 1_000);
    await stack.run('destroy');
  }
  await stop();
  return percentile(seconds, 0.5);
}

/** An issuer of tokens and a caller; returns a token for the agent. */
async function withIssuer(bed: SidecarBed): Promise<string> {
  const { jwks, tokenFor } = await createIssuer(issuer);
  await bed.untilOperatorRuns();
  const layer = `identity:\n  url: http://idp.${namespace}.svc:8080\n  realm: agents\n`;
  await putConfigMap(bed.client, namespaceDefaults(namespace, layer));
  await applyAll(bed.client, [
    deployment({ namespace, name: 'idp', program: ['-e', keyServer(jwks)] }),
    deployment({ namespace, name: 'tool', program: ['-e', tool] }),
    ...['idp', 'tool'].map((app) => service(namespace, app)),
  ]);
  for (const app of ['idp', 'tool']) await bed.kubectl('rollout', 'status', `deployment/${app}`, '--timeout=50s');
  return tokenFor('agent');
}

async function secondsToFirstAnswer(bed: SidecarBed, token: string): Promise<number> {
  const answered = inPod<{ at: number }>(bed, caller, untilOk, url, token);
  const own = deployment({ namespace, name: 'agent', program: ['-e', waitingAgent] });
  const began = Date.now();
  const objects = [
    own,
    service(namespace, 'agent'),
    runtimeFor(own, { type: 'agent', identity: { allowedAudiences: ['agent'] } }),
  ];
  await applyAll(bed.client, objects);
  return ((await answered).at - began) / 1_000;
}

/** From the start of the program to its word that Envoy serves, by its log. */
async function startMs(bed: SidecarBed): Promise<number> {
  const log = await bed.kubectl('logs', 'deploy/agent', '-c', 'envoy-proxy');
  const line = log.split('\n').find((each) => each.includes('"msg":"Envoy serves"')) ?? '{}';
  const { time = '' } = JSON.parse(line) as { readonly time?: string };
  return new Date(time).getTime() - (await look(bed)).at;
}

async function withoutAgent({ client, podsOf }: SidecarBed): Promise<void> {
  for (const kind of [kinds.agentRuntime, kinds.service, kinds.deployment]) {
    await client.remove({ kind, namespace, name: 'agent' });
  }
  await eventually(async () => {
    assert.deepEqual([...(await podsOf('agent')), ...(await client.list(kinds.agentRuntime, { namespace })).items], []);
  });
}

const look = async (bed: SidecarBed): Promise<Looked> => inPod<Looked>(bed, sidecar, looking);

/** What a program says in a container, as JSON in its last line. */
async function inPod<T>(bed: SidecarBed, [app, container]: Place, ...program: readonly string[]): Promise<T> {
  const out = await bed.kubectl('exec', `deploy/${app}`, '-c', container, '--', '/usr/bin/node', '-e', ...program);
  return JSON.parse(out.trim().split('\n').at(-1) ?? '') as T;
}

function memoryFigures(when: string, { processes }: Looked, kibOf: (part: Part) => number): readonly Figure[] {
  const mib = (parts: readonly Part[]): number => parts.reduce((sum, part) => sum + kibOf(part), 0) / 1_024;
  const envoy = processes.filter(({ name }) => name.startsWith('envoy'));
  const rest = processes.filter((part) => !envoy.includes(part));
  return [
    { what: `memory of the sidecar ${when}`, value: mib(processes), unit: 'MiB', goal: { atMost: 150 } },
    { what: '… of it Envoy', value: mib(envoy), unit: 'MiB' },
    { what: '… of it the program', value: mib(rest), unit: 'MiB' },
  ];
}
