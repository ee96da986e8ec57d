/** Pods that outlive their workload, on a real API server with its garbage collector: they stay closed until they have ended, and nothing does after. */

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createAgentCardController } from '../../runtime/agent-card/controller.ts';
import { createContacts } from '../../runtime/agent-card/contacts.ts';
import { kinds } from '../../runtime/api/kinds.ts';
import type { NetworkPolicy, Pod } from '../../runtime/api/kubernetes.ts';
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
  const controller = createAgentCardController({ ...options, verdicts: undefined, contacts, verification });
  return [withFarewell({ ...controller, decide: () => ({}) }, options) as Controller];
}

const finalizer = 'example.test/grace';

type Space = Awaited<ReturnType<typeof inNamespace>>;

interface AgentOptions {
  readonly app?: string;
  readonly replicas?: number;
}

/** A Deployment whose pods are deleted only when `end` lets them, as a long grace period would; and its card, which goes with it. */
async function agentWithPod(ns: Space, { app = 'weather', replicas = 1 }: AgentOptions = {}) {
  const object = workload('Deployment', ns.namespace, 'weather');
  const template = {
    metadata: { labels: { app }, finalizers: [finalizer] },
    spec: { containers: [{ name: 'c', image: 'i' }] },
  };
  const spec = { replicas, selector: { matchLabels: { app } }, template };
  const { metadata } = await ns.create({ ...object, spec } as Written);
  const owner = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    name: 'weather',
    uid: metadata.uid ?? '',
    controller: true,
  };
  const pods = async () => (await bed.client.list(kinds.pod, { namespace: ns.namespace, labels: `app=${app}` })).items;
  await eventually(async () => assert.equal((await pods()).length, replicas));
  await ns.card('weather', { owners: [owner] });
  await ns.says('Restrictive');
  return {
    pods,
    /** All of them, or the first few. */
    end: async (count = replicas) => {
      for (const pod of (await pods()).slice(0, count)) {
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

test('deleted in the foreground, where the collector takes the policy first: what the workload selected is closed again, until the last pod has ended', async () => {
  const ns = await inNamespace(bed, 'foreground');
  const agent = await agentWithPod(ns, { replicas: 4 });
  const how = ['--cascade=foreground', '--wait=false'];
  const { code, stderr } = await kubectl(bed.plane, ['-n', ns.namespace, 'delete', 'deployment', 'weather', ...how]);
  assert.equal(code, 0, stderr);
  await ns.becomes('absent', 'weather-signature-policy', collectedMs);
  await eventually(async () => assert.deepEqual((await selecting(ns)).map(stateOf), ['restrictive']));
  const [policy] = await selecting(ns);
  assert.equal(policy?.metadata.ownerReferences?.length, 4);
  await agent.end(3);
  await ownersAre(ns, await agent.pods());
  assert.deepEqual((await selecting(ns)).map(stateOf), ['restrictive']);
  await agent.end();
  await eventually(async () => assert.deepEqual(await ns.policies(), []), collectedMs);
});

/** The collector has seen that all others are gone, and left the policy. */
async function ownersAre(ns: Space, pods: readonly Pod[]): Promise<void> {
  assert.equal(pods.length, 1);
  await eventually(async () => {
    const [policy] = await selecting(ns);
    const uids = policy?.metadata.ownerReferences?.map(({ uid }) => uid);
    assert.deepEqual(
      uids,
      pods.map(({ metadata }) => metadata.uid),
    );
  }, collectedMs);
}

test('pods of another workload with the same labels own nothing: the policy ends with the pods that it is for, and who shares it is told', async () => {
  const ns = await inNamespace(bed, 'shared');
  const agent = await agentWithPod(ns);
  const other = workload('StatefulSet', ns.namespace, 'other');
  const template = { metadata: { labels: { app: 'weather' } }, spec: { containers: [{ name: 'c', image: 'i' }] } };
  const spec = { replicas: 1, serviceName: 'other', selector: { matchLabels: { app: 'weather' } }, template };
  await ns.create({ ...other, spec } as Written);
  await eventually(async () => assert.equal((await agent.pods()).length, 2));
  const [lasting] = (await agent.pods()).filter(({ metadata }) => metadata.name === 'other-0');
  await ns.remove('deployment', 'weather');
  await cardGoes(ns);
  const [policy] = await selecting(ns);
  assert.equal(
    policy?.metadata.ownerReferences?.some(({ uid }) => uid === lasting?.metadata.uid),
    false,
  );
  await eventually(async () => assert.ok((await ns.events()).includes('NetworkPolicySelectsOthers')));
  await agent.end(2);
  await eventually(async () => assert.deepEqual(await ns.policies(), []), collectedMs);
});

test('a second workload of the name at once, of other pods: its own policy beside what the first one left', async () => {
  const ns = await inNamespace(bed, 'second');
  const agent = await agentWithPod(ns);
  await ns.remove('deployment', 'weather');
  await cardGoes(ns);
  const second = await agentWithPod(ns, { app: 'second' });
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
  });
});

test('a card that is deleted while another one is next for its workload: the policy passes on, and is never gone', async () => {
  const ns = await inNamespace(bed, 'heir');
  await ns.agent();
  await ns.says('Restrictive');
  const policy = await ns.becomes('restrictive');
  const heir = await ns.card('heir', { target: 'weather' });
  await ns.remove('agentCard', 'weather');
  await cardGoes(ns);
  const owners = (await ns.policyOf())?.metadata.ownerReferences?.map(({ uid }) => uid);
  assert.deepEqual(owners, [heir.metadata.uid]);
  assert.equal((await ns.policyOf())?.metadata.uid, policy.metadata.uid);
});
