/** Others at work on the same objects: rival AgentRuntimes, actors that undo our labels, namespaces and targets that vanish. */

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { AgentRuntime } from '../../runtime/api/agent-runtime.ts';
import { kinds } from '../../runtime/api/kinds.ts';
import { annotations, finalizer, install, labels, managedBy } from '../../runtime/api/names.ts';
import { liveReader } from '../../runtime/engine/client.ts';
import { createAgentRuntimeValidator } from '../../runtime/validation/webhook.ts';
import { eventually } from '../support/engine-bed.ts';
import { eventsOf } from '../support/events.ts';
import { type EnrolmentBed, inNamespace, type Operator, startEnrolmentBed } from './bed.ts';
import { agentRuntime, deployment } from './objects.ts';

let bed: EnrolmentBed;
let operator: Operator;
before(async () => {
  bed = await startEnrolmentBed('contention');
  // The proportions of the real limits at a fraction of their length.
  operator = await bed.startOperator({ reversals: { count: 3, windowMs: 4_000, pauseMs: 400, longestMs: 1_600 } });
});
after(() => bed.stop());

const readyOf = ({ status }: AgentRuntime) => status?.conditions?.find(({ type }) => type === 'Ready')?.reason;

test('RC-07 of pairs created at once exactly one is Active, the other names the winner, and takes over when it goes', async () => {
  const ns = await inNamespace(bed, 'pairs');
  const size = 20;
  const ref = (i: number) => ({ targetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: `d${i}` } });
  for (let i = 0; i < size; i += 1) await ns.create(kinds.deployment, deployment(ns.name, `d${i}`, { replicas: 0 }));
  await Promise.all(
    Array.from({ length: size }, (_, i) =>
      ['a', 'b'].map((side) => ns.create(kinds.agentRuntime, agentRuntime(ns.name, `${side}${i}`, ref(i)))),
    ).flat(),
  );
  const pairs = async () => {
    const { items } = await bed.client.list(kinds.agentRuntime, { namespace: ns.name });
    return Array.from({ length: size }, (_, i) => items.filter(({ spec }) => spec.targetRef.name === `d${i}`));
  };
  await eventually(async () => {
    for (const pair of await pairs())
      assert.deepEqual(new Set(pair.map(readyOf)), new Set(['Configured', 'DuplicateTarget']));
  });
  for (const pair of await pairs()) {
    const [winner, loser] = readyOf(pair[0] as AgentRuntime) === 'Configured' ? pair : pair.toReversed();
    assert.ok(loser?.status?.message?.includes(`AgentRuntime ${winner?.metadata.name} `));
    const key = (one: AgentRuntime | undefined) => `${one?.metadata.creationTimestamp} ${one?.metadata.uid}`;
    assert.ok(key(winner) < key(loser));
  }
  const [first] = await pairs();
  const winner = first?.find((one) => readyOf(one) === 'Configured');
  const loser = first?.find((one) => one !== winner);
  await ns.remove(winner?.metadata.name);
  await ns.isGone(winner?.metadata.name);
  await ns.says('Active/Configured', loser?.metadata.name);
  const held = await ns.deploymentOf('d0');
  assert.equal(held.metadata.generation, 2, 'nothing was stripped in between');
});

test('RC-07 the validator lists live: of 20 pairs sent one after the other every second one is refused', async () => {
  const ns = await inNamespace(bed, 'validated');
  const validator = createAgentRuntimeValidator({
    live: liveReader(bed.client),
    operatorNamespace: install.namespace,
  });
  for (let i = 0; i < 20; i += 1) {
    const spec = { targetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: `d${i}` } };
    const review = (name: string) =>
      validator.review({
        uid: 'r',
        operation: 'CREATE',
        namespace: ns.name,
        name,
        object: agentRuntime(ns.name, name, spec),
        dryRun: false,
        user: 'dev',
      });
    assert.equal((await review(`a${i}`)).kind, 'allow');
    await ns.create(kinds.agentRuntime, agentRuntime(ns.name, `a${i}`, spec));
    const second = await review(`b${i}`);
    assert.equal(second.kind, 'deny');
    assert.match(second.note, new RegExp(`: a${i}\\.`));
  }
});

test('GO-01 an actor that keeps stripping our label brings about few rollouts, is reported, and all recovers when it stops', {
  timeout: 600_000,
}, async () => {
  const ns = await inNamespace(bed, 'fight');
  await ns.create(kinds.deployment, deployment(ns.name, 'weather-agent', { replicas: 0 }));
  await ns.create(kinds.agentRuntime, agentRuntime(ns.name));
  await ns.says('Active/Configured');
  const target = { kind: kinds.deployment, namespace: ns.name, name: 'weather-agent' };
  const strip = () =>
    bed.client.mergePatch(target, { spec: { template: { metadata: { labels: { [labels.type]: null } } } } });
  let stripped = 0;
  const end = performance.now() + 5_000;
  while (performance.now() < end) {
    const { spec } = await ns.deploymentOf();
    if (spec.template.metadata?.labels?.[labels.type] !== undefined) {
      await strip();
      stripped += 1;
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  assert.ok(stripped >= 4 && stripped <= 9, `${stripped} times`);
  await ns.says('Error/FieldConflict');
  const { status } = await ns.runtimeOf();
  assert.match(status?.message ?? '', /keeps undoing what the operator sets on Deployment weather-agent/);
  await ns.says('Active/Configured', 'weather', 15_000);
  assert.equal((await ns.deploymentOf()).spec.template.metadata?.labels?.[labels.type], 'agent');
});

test('GO-01 a single removal by hand is repaired at once', async () => {
  const ns = await inNamespace(bed, 'repair');
  await ns.create(kinds.deployment, deployment(ns.name, 'weather-agent', { replicas: 0 }));
  await ns.create(kinds.agentRuntime, agentRuntime(ns.name));
  await ns.says('Active/Configured');
  await bed.client.mergePatch(
    { kind: kinds.deployment, namespace: ns.name, name: 'weather-agent' },
    { metadata: { labels: { [labels.type]: null } } },
  );
  await eventually(async () => (await ns.deploymentOf()).metadata.labels?.[labels.type] === 'agent', 2_000);
  await ns.says('Active/Configured');
});

test('RC-01 a replace without our fields is repaired; a scale and a foreign label are left alone', async () => {
  const ns = await inNamespace(bed, 'replaced');
  await ns.create(kinds.deployment, deployment(ns.name, 'weather-agent', { replicas: 0 }));
  await ns.create(kinds.agentRuntime, agentRuntime(ns.name));
  await ns.says('Active/Configured');
  await bed.client.replace(
    kinds.deployment,
    deployment(ns.name, 'weather-agent', { replicas: 0, labels: { team: 'blue' } }),
  );
  await eventually(
    async () => (await ns.deploymentOf()).spec.template.metadata?.labels?.[labels.type] === 'agent',
    2_000,
  );
  const count = () => operator.writes(ns.name).filter(({ resource }) => resource === 'deployments').length;
  await eventually(() => count() === 2);
  await bed.client.mergePatch(
    { kind: kinds.deployment, namespace: ns.name, name: 'weather-agent' },
    { spec: { replicas: 1 }, metadata: { labels: { team: 'red' } } },
  );
  await new Promise((resolve) => setTimeout(resolve, 300));
  assert.equal(count(), 2);
  assert.equal((await ns.deploymentOf()).metadata.labels?.['team'], 'red');
});

test('RC-04 a namespace that holds both goes; a runtime without a target, and both of a pair, can be deleted', async () => {
  const ns = await inNamespace(bed, 'going');
  await ns.create(kinds.deployment, deployment(ns.name));
  await ns.create(kinds.agentRuntime, agentRuntime(ns.name));
  await ns.create(kinds.agentRuntime, agentRuntime(ns.name, 'twin'));
  await ns.create(
    kinds.agentRuntime,
    agentRuntime(ns.name, 'lost', { targetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'nothing' } }),
  );
  await ns.create(
    kinds.agentRuntime,
    agentRuntime(ns.name, 'odd', { targetRef: { apiVersion: 'v1', kind: 'Pod', name: 'x' } }),
  );
  await ns.says('Error/TargetUnsupported', 'odd');
  await ns.says('Pending/TargetNotFound', 'lost');
  await ns.says('Error/DuplicateTarget', (await readyNames(ns.name, 'DuplicateTarget'))[0]);
  await bed.client.remove({ kind: kinds.namespace, name: ns.name });
  await eventually(async () => {
    const { items } = await bed.client.list(kinds.namespace);
    return !items.some(({ metadata }) => metadata.name === ns.name);
  });
});

async function readyNames(namespace: string, reason: string): Promise<readonly string[]> {
  let names: readonly string[] = [];
  await eventually(async () => {
    const { items } = await bed.client.list(kinds.agentRuntime, { namespace });
    names = items.filter((one) => readyOf(one) === reason).map(({ metadata }) => metadata.name ?? '');
    return names.length > 0;
  });
  return names;
}

test('RC-04 a runtime whose spec no schema would accept any more can be deleted, and its target is released', async () => {
  const ns = await inNamespace(bed, 'invalid');
  await ns.create(kinds.deployment, deployment(ns.name, 'weather-agent', { replicas: 0 }));
  await ns.create(kinds.agentRuntime, agentRuntime(ns.name));
  await ns.says('Active/Configured');
  // The same object as an older, laxer schema would have let it in.
  const crd = await bed.client.get(kinds.customResourceDefinition, { name: 'agentruntimes.agent.rossoctl.dev' });
  const lax = structuredClone(crd) as unknown as {
    spec: { versions: { schema: { openAPIV3Schema: unknown }; selectableFields?: unknown }[] };
  };
  const [version] = lax.spec.versions;
  if (version === undefined) throw new Error('the CRD has no version');
  version.schema.openAPIV3Schema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  // A field without a schema cannot be selected by.
  delete version.selectableFields;
  const relaxed = await bed.client.replace(kinds.customResourceDefinition, lax as unknown as typeof crd);
  const target = { kind: kinds.agentRuntime, namespace: ns.name, name: 'weather' };
  await eventually(async () => {
    await bed.client.mergePatch(target, { spec: { mtlsMode: 'sideways', type: 'robot' } });
  });
  await ns.says('Error/ConfigInvalid');
  await bed.client.replace(kinds.customResourceDefinition, {
    ...crd,
    metadata: { ...crd.metadata, resourceVersion: relaxed.metadata.resourceVersion ?? '' },
  });
  await ns.remove();
  await ns.isGone();
  const { metadata, spec } = await ns.deploymentOf();
  assert.equal(metadata.labels?.[labels.type], undefined);
  assert.equal(metadata.labels?.[labels.managedBy] === managedBy, false);
  assert.equal(spec.template.metadata?.annotations?.[annotations.configHash], undefined);
});

test('OB-02 one event for each change of state, none for passes that change nothing', async () => {
  const ns = await inNamespace(bed, 'events');
  await ns.create(kinds.agentRuntime, agentRuntime(ns.name));
  await ns.says('Pending/TargetNotFound');
  for (let pass = 0; pass < 100; pass += 1) operator.wake({ namespace: ns.name, name: 'weather' });
  await ns.create(kinds.deployment, deployment(ns.name, 'weather-agent', { replicas: 0 }));
  await ns.says('Active/Configured');
  const reasons = async () => (await eventsOf(bed.client, ns.name)).map(({ reason }) => reason).sort();
  // A status is there before its event is sent.
  await eventually(async () => assert.deepEqual(await reasons(), ['Configured', 'TargetNotFound']));
  await operator.events.idle();
  assert.deepEqual(await reasons(), ['Configured', 'TargetNotFound']);
});

test('the finalizer is ours alone, and set before anything is written on the workload', async () => {
  const ns = await inNamespace(bed, 'order');
  await ns.create(kinds.deployment, deployment(ns.name, 'weather-agent', { replicas: 0 }));
  await ns.create(kinds.agentRuntime, agentRuntime(ns.name));
  await ns.says('Active/Configured');
  assert.deepEqual((await ns.runtimeOf()).metadata.finalizers, [finalizer]);
  const order = operator.writes(ns.name).map(({ resource }) => resource);
  assert.deepEqual(
    order.filter((resource) => resource !== 'events'),
    ['agentruntimes', 'configmaps', 'deployments', 'agentruntimes/status'],
  );
});
