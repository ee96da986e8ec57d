/** Whose policy it is: a user's of our name, two cards of one workload, two workloads of one name, two operators, no card at all. */

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { kinds } from '../../runtime/api/kinds.ts';
import { generatedCardName, labels, managedBy } from '../../runtime/api/names.ts';
import { networkPoliciesIn } from '../../runtime/operator/traces.ts';
import { platformConfig, putConfigMap, workload, type Written } from '../support/workload-objects.ts';
import { eventually } from '../support/engine-bed.ts';
import { collectedMs, inNamespace, type Operator, type PolicyBed, startPolicyBed, stateOf } from './bed.ts';

let bed: PolicyBed;
let operator: Operator;
before(async () => {
  bed = await startPolicyBed('network-policy-owners');
  operator = await bed.startOperator();
});
after(() => bed.stop());

const foreign = (namespace: string): Written => ({
  apiVersion: 'networking.k8s.io/v1',
  kind: 'NetworkPolicy',
  metadata: { namespace, name: 'weather-signature-policy', labels: { team: 'a' } },
  spec: { podSelector: { matchLabels: { app: 'weather' } }, policyTypes: ['Ingress'] },
});

test('a user’s policy of our name is left as it is and reported once; when it goes, ours takes its place', async () => {
  const ns = await inNamespace(bed, 'foreign');
  const client = bed.client;
  await client.create(kinds.networkPolicy as never, foreign(ns.namespace));
  const before = await ns.policyOf();
  await ns.agent();
  await ns.says('NameTaken');
  await ns.judge('True');
  for (let i = 0; i < 3; i += 1) operator.wake(ns.namespace, 'weather');
  await operator.settled();
  assert.deepEqual(await ns.policyOf(), before);
  await operator.settled();
  assert.deepEqual(await ns.events(), ['NetworkPolicyNameTaken']);
  assert.match(await operator.metrics.text(), /^rossoctl_network_policies\{reason="NameTaken"\} 1$/m);
  assert.ok(operator.writes(ns.namespace).every((write) => write.startsWith('patch agentcards/status')));
  await ns.remove('networkPolicy', 'weather-signature-policy');
  await ns.becomes('permissive');
  await ns.says('Permissive');
});

test('a copy of ours that somebody else has made is theirs, with our labels and our card for its owner', async () => {
  const ns = await inNamespace(bed, 'copied');
  const { metadata: card } = await ns.agent();
  const { metadata, ...ours } = await ns.becomes('restrictive');
  const removedAtUninstall = async () =>
    (await networkPoliciesIn(bed.client, [ns.namespace])).map(({ name: policy }) => policy);
  assert.deepEqual(await removedAtUninstall(), ['weather-signature-policy']);
  await operator.stop();
  const { name = '', labels: own = {}, ownerReferences = [] } = metadata;
  await ns.remove('networkPolicy', name);
  const copy = { ...ours, metadata: { namespace: ns.namespace, name, labels: own, ownerReferences } };
  await bed.client.create(kinds.networkPolicy as never, copy as never);
  const copied = await ns.policyOf();
  assert.deepEqual(await removedAtUninstall(), []);
  operator = await bed.startOperator();
  await ns.says('Unenforced');
  await ns.judge('True');
  for (let i = 0; i < 3; i += 1) operator.wake(ns.namespace, card.name ?? '');
  await operator.settled();
  assert.deepEqual(await ns.policyOf(), copied);
  assert.deepEqual(
    (await ns.events()).filter((reason) => reason !== 'NetworkOpened'),
    ['NetworkPolicyUnenforced'],
  );
});

test('a user’s policy in the place of ours is a user’s', async () => {
  const ns = await inNamespace(bed, 'replaced');
  await ns.agent();
  await ns.becomes('restrictive');
  await ns.remove('deployment', 'weather');
  await ns.remove('agentCard', 'weather');
  await ns.becomes('absent', 'weather-signature-policy', collectedMs);
  await bed.client.create(kinds.networkPolicy as never, foreign(ns.namespace));
  await ns.agent();
  await ns.says('NameTaken');
  assert.equal((await ns.policyOf())?.metadata.labels?.['team'], 'a');
});

test('the policy goes with its card, by the garbage collector alone', async () => {
  const ns = await inNamespace(bed, 'collected');
  await ns.agent();
  await ns.becomes('restrictive');
  await ns.says('Restrictive');
  assert.equal((await ns.cardOf()).metadata.finalizers, undefined);
  await ns.remove('agentCard', 'weather');
  await ns.becomes('absent', 'weather-signature-policy', collectedMs);
  assert.ok(operator.writes(ns.namespace).every((write) => !write.startsWith('delete')));
});

test('of two cards the one that counts has the policy; it is handed over without ever being absent', async () => {
  const ns = await inNamespace(bed, 'rivals');
  await ns.agent();
  await ns.judge('True');
  await ns.becomes('permissive');
  const generated = generatedCardName('Deployment', 'weather');
  await ns.card(generated, { target: 'weather', labels: { [labels.managedBy]: managedBy } });
  await operator.settled();
  assert.equal(await ns.reasonOf(generated), undefined);
  const owner = async () => (await ns.policyOf())?.metadata.ownerReferences?.map(({ name }) => name).join();
  assert.equal(await owner(), 'weather');
  // The hand-made one turns elsewhere: the generated one counts, and its verdict is its own, of which there is none.
  const turn = (name: string) =>
    bed.client.mergePatch(
      { kind: kinds.agentCard, namespace: ns.namespace, name: 'weather' },
      { spec: { targetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name } } },
    );
  await turn('storm');
  await eventually(async () => assert.equal(await owner(), generated));
  assert.equal(stateOf(await ns.policyOf()), 'restrictive');
  await ns.says('Restrictive', generated);
  await ns.says('TargetNotFound');
  await turn('weather');
  await ns.says(undefined, generated);
  await eventually(async () => assert.equal(await owner(), 'weather'));
  // A card that is deleted leaves the workload to the next one, faster than the garbage collector comes.
  await ns.remove('agentCard', 'weather');
  await eventually(async () => assert.equal(await owner(), generated));
  assert.equal(stateOf(await ns.policyOf()), 'restrictive');
  const removals = operator.writes(ns.namespace).filter((write) => write.startsWith('delete'));
  assert.deepEqual(removals, []);
});

test('a Deployment and a StatefulSet of one name have a policy each, the Deployment the plain name, whoever was first', async () => {
  const ns = await inNamespace(bed, 'namesakes');
  const [plain, second] = ['weather-signature-policy', 'weather-signature-policy-statefulset'];
  const selecting = (kind: 'Deployment' | 'StatefulSet', app: string): Written => {
    const object = workload(kind, ns.namespace, 'weather');
    const template = { metadata: { labels: { app } }, spec: { containers: [{ name: 'c', image: 'i' }] } };
    const name = kind === 'StatefulSet' ? { serviceName: 'weather' } : {};
    return { ...object, spec: { replicas: 0, selector: { matchLabels: { app } }, template, ...name } };
  };
  await ns.create(selecting('StatefulSet', 'set'));
  await ns.card('set', { kind: 'StatefulSet', target: 'weather' });
  assert.deepEqual((await ns.becomes('restrictive', plain)).spec?.podSelector, { matchLabels: { app: 'set' } });
  await ns.create(selecting('Deployment', 'deployment'));
  await ns.card('deployment', { target: 'weather' });
  assert.deepEqual((await ns.becomes('restrictive', second)).spec?.podSelector, { matchLabels: { app: 'set' } });
  await eventually(async () =>
    assert.deepEqual((await ns.policyOf(plain))?.spec?.podSelector, { matchLabels: { app: 'deployment' } }),
  );
  await ns.says('Restrictive', 'set');
  await ns.says('Restrictive', 'deployment');
  assert.equal((await ns.policies()).length, 2);
  await ns.remove('agentCard', 'deployment');
  await eventually(async () => {
    const [only, ...more] = await ns.policies();
    assert.equal(more.length, 0);
    assert.equal(only?.metadata.name, plain);
    assert.deepEqual(only.spec?.podSelector, { matchLabels: { app: 'set' } });
  });
});

test('the platform’s and the namespace’s configuration reach every policy; a bad text changes none', async () => {
  const ns = await inNamespace(bed, 'configured');
  await ns.agent();
  await ns.judge('True');
  await ns.becomes('permissive');
  await putConfigMap(
    bed.client,
    platformConfig('networkPolicy: {verifiedEgress: agents, dns: {profile: openshift}}\n'),
  );
  const egress = async () => JSON.stringify((await ns.policyOf())?.spec?.egress);
  await eventually(async () => assert.match(await egress(), /openshift-dns/));
  const settled = await ns.policyOf();
  await putConfigMap(bed.client, platformConfig('networkPolicy: {verifiedEgress: everything}\n'));
  await operator.settled();
  assert.deepEqual(await ns.policyOf(), settled);
  await ns.judge('False');
  await eventually(async () => assert.equal((await ns.policyOf())?.spec?.ingress?.[0]?.from?.length, 1));
  assert.match(await egress(), /openshift-dns/);
  await putConfigMap(bed.client, platformConfig('{}\n'));
  await ns.becomes('restrictive');
  await ns.judge('True');
  await ns.becomes('permissive');
});

test('two operators at once agree: one policy, and no writing against each other', async () => {
  const ns = await inNamespace(bed, 'two');
  const other = await bed.startOperator();
  await ns.agent();
  const made = await ns.becomes('restrictive');
  await ns.judge('True');
  await ns.becomes('permissive');
  await ns.says('Permissive');
  const settle = async () => {
    for (const one of [operator, other]) {
      one.wake(ns.namespace, 'weather');
      await one.settled();
    }
  };
  await settle();
  const writes = () => [...operator.writes(ns.namespace), ...other.writes(ns.namespace)].length;
  const before = writes();
  for (let i = 0; i < 5; i += 1) await settle();
  assert.equal(writes(), before);
  assert.equal((await ns.policyOf())?.metadata.uid, made.metadata.uid);
  await other.stop();
});

test('audit mode deletes what is ours, makes none, and leaves others’', async () => {
  const ns = await inNamespace(bed, 'audit');
  await ns.agent();
  await ns.judge('True');
  await ns.becomes('permissive');
  await ns.says('Permissive');
  await bed.client.create(kinds.networkPolicy as never, {
    ...foreign(ns.namespace),
    metadata: { namespace: ns.namespace, name: 'mine' },
  });
  await operator.stop();
  const auditing = await bed.startOperator({ isAudit: true });
  await ns.becomes('absent');
  await ns.says(undefined);
  assert.equal((await ns.cardOf()).status?.conditions?.[0]?.type, 'Verified');
  await auditing.settled();
  assert.deepEqual(
    (await ns.policies()).map(({ metadata }) => metadata.name),
    ['mine'],
  );
  await auditing.stop();
  operator = await bed.startOperator();
  await ns.becomes('permissive');
});
