/** Pods that outlive their workload, on a real API server with its garbage collector: they stay closed until they have ended, and nothing does after. */

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createAgentCardController } from '../../runtime/agent-card/controller.ts';
import { createContacts } from '../../runtime/agent-card/contacts.ts';
import { kinds } from '../../runtime/api/kinds.ts';
import type { NetworkPolicy } from '../../runtime/api/kubernetes.ts';
import { systemClock } from '../../runtime/engine/clock.ts';
import { isNotFound } from '../../runtime/engine/errors.ts';
import type { Controller } from '../../runtime/engine/types.ts';
import { withFarewell } from '../../runtime/network-policy/farewell.ts';
import { kubectl } from '../policy-cluster/kubectl.ts';
import { eventually } from '../support/engine-bed.ts';
import { workload, type Written } from '../support/workload-objects.ts';
import {
  collectedMs,
  inNamespace,
  type Operator,
  type OperatorOptions,
  type PolicyBed,
  startPolicyBed,
  stateOf,
} from './bed.ts';

let bed: PolicyBed;
let operator: Operator;
before(async () => {
  bed = await startPolicyBed('network-policy-outliving');
  operator = await bed.startOperator({ beside: cards });
  await garbageIsCollected();
});
after(() => bed.stop());

/** As the operator runs it. Nobody is ever asked for a card: verdicts are the test's. */
function cards(options: Parameters<NonNullable<OperatorOptions['beside']>>[0]): readonly Controller[] {
  const verification = {
    isRequired: false,
    isAudit: false,
    profiles: 'all',
    trustDomain: '',
    scope: 'trustDomain',
    bundle: { namespace: '', name: '', key: '' },
    verdictSyncPeriods: 1,
  } as const;
  const contacts = createContacts({ ask: () => new Promise(() => {}), time: systemClock });
  const controller = createAgentCardController({ ...options, contacts, verification });
  return [withFarewell(controller, options) as Controller];
}

const finalizer = 'example.test/grace';

type Space = Awaited<ReturnType<typeof inNamespace>>;

/** A Deployment of one pod, which is deleted only when `end` lets it, as a long grace period would; and its card, which goes with it. */
async function agentWithPod(ns: Space, app = 'weather') {
  const object = workload('Deployment', ns.namespace, 'weather');
  const template = {
    metadata: { labels: { app }, finalizers: [finalizer] },
    spec: { containers: [{ name: 'c', image: 'i' }] },
  };
  const spec = { replicas: 1, selector: { matchLabels: { app } }, template };
  const { metadata } = await ns.create({ ...object, spec } as Written);
  const owner = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    name: 'weather',
    uid: metadata.uid ?? '',
    controller: true,
  };
  await eventually(async () => {
    const { items } = await bed.client.list(kinds.pod, { namespace: ns.namespace, labels: `app=${app}` });
    assert.equal(items.length, 1);
  });
  await ns.card('weather', { owners: [owner] });
  await ns.says('Restrictive');
  return {
    end: async () => {
      const { items } = await bed.client.list(kinds.pod, { namespace: ns.namespace, labels: `app=${app}` });
      for (const pod of items) {
        const ref = { kind: kinds.pod, namespace: ns.namespace, name: pod.metadata.name ?? '' };
        await bed.client.mergePatch(ref, { metadata: { finalizers: null } });
      }
    },
  };
}

/** Every policy that selects these pods. */
async function selecting(ns: Space, app = 'weather'): Promise<readonly NetworkPolicy[]> {
  return (await ns.policies()).filter(({ spec }) => spec?.podSelector.matchLabels?.['app'] === app);
}

const cardGoes = (ns: Space) =>
  eventually(async () => assert.equal(await ns.cardOf().then(() => false, isNotFound), true), collectedMs);

/** The garbage collector learns of a new kind of owner twice a minute. */
async function garbageIsCollected(): Promise<void> {
  const ns = await inNamespace(bed, 'collected');
  const agent = await agentWithPod(ns);
  await ns.remove('deployment', 'weather');
  await cardGoes(ns);
  await agent.end();
  await eventually(async () => assert.deepEqual(await ns.policies(), []), collectedMs);
}

/** Until the policy of the card is gone, asking again and again: whether there ever was none that closes the pods. */
async function closedThroughout(ns: Space): Promise<boolean> {
  for (;;) {
    const found = await selecting(ns);
    if (!found.some((policy) => stateOf(policy) === 'restrictive')) return false;
    if (!found.some(({ metadata }) => metadata.name === 'weather-signature-policy')) return true;
  }
}

test('an unverified Deployment that is deleted: its pods stay closed throughout, until the last has ended; then nothing is left', async () => {
  const ns = await inNamespace(bed, 'deleted');
  const agent = await agentWithPod(ns);
  await ns.judge('False');
  await ns.remove('deployment', 'weather');
  assert.equal(await closedThroughout(ns), true);
  await cardGoes(ns);
  const [policy, ...more] = await ns.policies();
  assert.deepEqual(more, []);
  assert.equal(stateOf(policy), 'restrictive');
  assert.deepEqual(
    policy?.metadata.ownerReferences?.map(({ kind }) => kind),
    ['Pod'],
  );
  const writes = operator.writes(ns.namespace).filter((write) => /networkpolicies/.test(write));
  assert.equal(writes.length, 2, 'the card’s, and the one that outlives it');
  await agent.end();
  await eventually(async () => assert.deepEqual(await ns.policies(), []), collectedMs);
});

test('a verified one: the verdict ends with the card, and what is left of it is closed', async () => {
  const ns = await inNamespace(bed, 'verified');
  const agent = await agentWithPod(ns);
  await ns.judge('True');
  await ns.becomes('permissive');
  await ns.remove('deployment', 'weather');
  await ns.becomes('absent', 'weather-signature-policy', collectedMs);
  assert.deepEqual((await selecting(ns)).map(stateOf), ['restrictive']);
  await agent.end();
});

test('deleted in the foreground, where the collector takes the policy first: what the workload selected is closed again', async () => {
  const ns = await inNamespace(bed, 'foreground');
  const agent = await agentWithPod(ns);
  const how = ['--cascade=foreground', '--wait=false'];
  const { code, stderr } = await kubectl(bed.plane, ['-n', ns.namespace, 'delete', 'deployment', 'weather', ...how]);
  assert.equal(code, 0, stderr);
  await ns.becomes('absent', 'weather-signature-policy', collectedMs);
  await eventually(async () => assert.deepEqual((await selecting(ns)).map(stateOf), ['restrictive']));
  await agent.end();
  await eventually(async () => assert.deepEqual(await ns.policies(), []), collectedMs);
});

test('a second workload of the name at once, of other pods: its own policy beside what the first one left', async () => {
  const ns = await inNamespace(bed, 'second');
  const agent = await agentWithPod(ns);
  await ns.remove('deployment', 'weather');
  await cardGoes(ns);
  const second = await agentWithPod(ns, 'second');
  assert.deepEqual(
    (await selecting(ns, 'second')).map(({ metadata }) => metadata.name),
    ['weather-signature-policy'],
  );
  assert.deepEqual((await selecting(ns)).map(stateOf), ['restrictive']);
  await ns.judge('True');
  await ns.becomes('permissive');
  assert.deepEqual((await selecting(ns)).map(stateOf), ['restrictive']);
  await agent.end();
  await eventually(async () => assert.deepEqual(await selecting(ns), []), collectedMs);
  assert.equal((await selecting(ns, 'second')).length, 1);
  await second.end();
});

test('a card that a person deletes leaves its workload open like any other; a namespace ends with all that is in it', async () => {
  const ns = await inNamespace(bed, 'alive');
  const agent = await agentWithPod(ns);
  await ns.remove('agentCard', 'weather');
  await cardGoes(ns);
  await eventually(async () => assert.deepEqual(await ns.policies(), []), collectedMs);
  await ns.card();
  await ns.says('Restrictive');
  // Pods first, then all else, by an API server of today.
  await bed.client.remove({ kind: kinds.namespace, name: ns.namespace });
  await agent.end();
  await eventually(async () => {
    const name = { name: ns.namespace };
    assert.equal(await bed.client.get(kinds.namespace, name).then(() => false, isNotFound), true);
  }, 60_000);
});
