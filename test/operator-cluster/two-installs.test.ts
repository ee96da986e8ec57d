/** Two installs in one cluster: each looks after its own namespaces and nothing else, and one goes without the other noticing. */

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { kinds } from '../../runtime/api/kinds.ts';
import { annotations, labels, operatorPodLabels } from '../../runtime/api/names.ts';
import type { KubeObject } from '../../runtime/engine/types.ts';
import { networkPoliciesIn, resourcesIn } from '../../runtime/operator/traces.ts';
import { cli } from '../runtime/cli/run-cli.ts';
import { type AuditLog, isWrite, textOf } from '../support/audit-log.ts';
import { eventually } from '../support/engine-bed.ts';
import { carriedBy, nothingCarried, untilSays } from '../support/enrolments.ts';
import { type OperatorBed, startOperatorBed, untilLeading } from '../support/operator-bed.ts';
import { kindOf, type PlatformProps } from '../support/operator-platform.ts';
import type { OperatorProcess } from '../support/operator-process.ts';
import { runtimeFor, workload, workloadKinds, type Written } from '../support/workload-objects.ts';
import { cardLife, verifying, verifyingFlags } from './card-life.ts';
import { type SecondInstall, startSecondInstall } from './second-install.ts';

const tenants = { blue: 'team1', green: 'team2' } as const;
/** Where the life of a signed card is played, which wants a namespace for itself. */
const stages = { blue: 'stage1', green: 'stage2' } as const;
type Instance = keyof typeof tenants;
const both = ['blue', 'green'] as const;

const install = (instance: Instance): PlatformProps => ({
  ...verifying,
  instance,
  namespace: `${instance}-system`,
  mode: 'namespaced',
  namespaces: [{ name: tenants[instance] }, { name: stages[instance] }],
});
const flagsOf = (instance: Instance) => ({
  ...verifyingFlags,
  instance,
  namespace: `${instance}-system`,
  namespaces: `${tenants[instance]},${stages[instance]}`,
});

let bed: OperatorBed;
let green: SecondInstall;
let operators: Readonly<Record<Instance, OperatorProcess>>;
before(async () => {
  const operator = { namespace: 'green-system', serviceAccountName: 'rossoctl-operator-green' };
  bed = await startOperatorBed('two-installs', { platform: { ...install('blue'), operators: [operator] } });
  const blue = await bed.startReady('blue', { flags: flagsOf('blue') });
  await untilLeading(blue);
  green = await startSecondInstall(bed, { ...install('green'), crds: 'shared' }, flagsOf('green'));
  operators = { blue, green: green.operator };
});
after(async () => {
  await green.stop();
  await bed.stop();
});

const uninstall = (...argv: readonly string[]) => cli(['uninstall', '--kubeconfig', bed.plane.kubeconfigPath, ...argv]);

/** An enrolled agent with a pod and a card. */
async function enrolIn(namespace: string, name = 'agent'): Promise<Written> {
  const { client } = bed;
  const made = workload('Deployment', namespace, name, { replicas: 1, pod: { serviceAccountName: 'agents' } });
  const spoken = { ...made.metadata.labels, [`${labels.protocolPrefix}a2a`]: '' };
  const object = { ...made, metadata: { ...made.metadata, labels: spoken } };
  await client.create(workloadKinds.Deployment, object);
  await client.create(kinds.agentRuntime, runtimeFor(object));
  await untilSays(client, object, 'Active/Configured');
  await eventually(async () => {
    const { items } = await client.list(kinds.pod, { namespace });
    const pods = items.filter(({ metadata }) => metadata.name?.startsWith(`${name}-`));
    assert.ok(pods.some(({ metadata }) => metadata.annotations?.[annotations.injected] !== undefined));
    assert.ok((await networkPoliciesIn(client, [namespace])).some(({ name: policy }) => policy.startsWith(name)));
  });
  return object;
}

async function assertFits(instance: Instance): Promise<void> {
  await eventually(async () => {
    const readiness = await operators[instance].readiness();
    assert.equal(readiness?.ok, true, instance);
    assert.deepEqual(readiness.degraded, [], instance);
  });
}

/** What an operator wrote that is neither in its own namespaces nor its own registration. */
function strayWrites(instance: Instance, audit: AuditLog): readonly string[] {
  const places = [`${instance}-system`, tenants[instance], stages[instance]];
  const stray = audit.requests().filter((request) => {
    const { namespace, name } = request.objectRef ?? {};
    const isOwn = namespace === undefined ? name?.endsWith(`-${instance}`) : places.includes(namespace);
    return isWrite(request) && isOwn !== true;
  });
  return stray.map(textOf);
}

const agents: Partial<Record<Instance, Written>> = {};

test('the verdicts of both are accepted, and nobody else’s', { timeout: 600_000 }, async () => {
  const { client } = bed;
  for (const instance of both) {
    await cardLife(client, stages[instance]);
    await client.remove({ kind: kinds.configMap, namespace: 'default', name: 'agents-bundle' });
    const claimed = { [labels.signatureVerified]: 'true' };
    const object = workload('Deployment', tenants[instance], 'claims');
    const claims = { ...object, metadata: { ...object.metadata, labels: claimed } };
    await assert.rejects(client.create(workloadKinds.Deployment, claims), /signature-label-protection/);
  }
});

test('each enrols, injects and validates in its own namespaces, and finds nothing wrong with the other', {
  timeout: 600_000,
}, async () => {
  const { client } = bed;
  for (const instance of both) {
    const agent = await enrolIn(tenants[instance]);
    agents[instance] = agent;
    const second = { ...runtimeFor(agent), metadata: { namespace: tenants[instance], name: 'second' } };
    await assert.rejects(client.create(kinds.agentRuntime, second), /admission webhook "agentruntime\.rossoctl\.io"/);
    const byHand = workload('Deployment', tenants[instance], 'by-hand', { labels: { [labels.type]: 'agent' } });
    await assert.rejects(
      client.create(workloadKinds.Deployment, byHand),
      new RegExp(`agent-label-protection-${instance}`),
    );
  }
  for (const instance of both) await assertFits(instance);
});

test('neither is refused anything, or writes anything that is the other’s', () => {
  for (const [instance, audit] of [
    ['blue', bed.audit],
    ['green', green.audit],
  ] as const) {
    assert.deepEqual(strayWrites(instance, audit), []);
    const refused = audit.requests().filter(({ responseStatus }) => [401, 403].includes(responseStatus?.code ?? 0));
    assert.deepEqual(refused.map(textOf), []);
  }
});

test('an uninstall says which install it would take, and asks where it cannot tell', { timeout: 600_000 }, async () => {
  // Whoever may make Deployments in a tenant's namespace can have one look like an operator.
  const looksSo = workload('Deployment', tenants.green, 'rossoctl-operator', { replicas: 0 });
  const labelled = { ...looksSo.metadata.labels, ...operatorPodLabels };
  await bed.client.create(workloadKinds.Deployment, {
    ...looksSo,
    metadata: { ...looksSo.metadata, labels: labelled },
  });
  const unsaid = await uninstall();
  assert.equal(unsaid.code, 2);
  assert.match(
    unsaid.err,
    /nothing is seen of an install in namespace rossoctl-system; there is one in blue-system \(instance blue\), and one in green-system \(instance green\)\. Say which/,
  );
  const wrong = await uninstall('--instance', 'green', '--namespace', 'blue-system');
  assert.match(wrong.err, /--instance green: .*blue-system \(instance blue\)/);
  const said = await uninstall('--instance', 'blue');
  assert.equal(said.code, 0, said.err);
  const lines = said.out.trim().split('\n').sort();
  const offStage = lines.filter((line) => !line.includes(` ${stages.blue}/`));
  assert.deepEqual(offStage, [
    'AgentCard team1/agent-deployment-card',
    'AgentRuntime team1/agent',
    'MutatingWebhookConfiguration rossoctl-injector-blue',
    'NetworkPolicy team1/agent-signature-policy',
    'ValidatingAdmissionPolicy agent-label-protection-blue',
    'ValidatingAdmissionPolicyBinding agent-label-protection-blue',
    'ValidatingWebhookConfiguration rossoctl-validator-blue',
  ]);
  assert.match(said.err, /there is one in green-system \(instance green\): keep what they share/);
});

test('one is taken out, and the other goes on as if nothing had been', { timeout: 600_000 }, async () => {
  const { client } = bed;
  const carried = carriedBy(await live('green'));
  await operators.blue.stop();
  const done = await uninstall('--namespace', 'blue-system', '--yes');
  assert.equal(done.code, 0, done.err);
  assert.deepEqual(await resourcesIn(client, ['team1']), []);
  assert.deepEqual(await networkPoliciesIn(client, ['team1']), []);
  assert.deepEqual(carriedBy(await live('blue')), nothingCarried);
  assert.deepEqual(carriedBy(await live('green')), carried);
  assert.equal((await resourcesIn(client, ['team2'])).length, 2);
  await enrolIn('team2', 'later');
  await assertFits('green');
  assert.deepEqual(strayWrites('green', green.audit), []);
});

test('the last one takes what both shared', { timeout: 600_000 }, async () => {
  await green.operator.stop();
  const done = await uninstall('--namespace', 'green-system', '--yes');
  assert.equal(done.code, 0, done.err);
  assert.match(done.err, /ValidatingAdmissionPolicy signature-label-protection deleted/);
  assert.deepEqual(await resourcesIn(bed.client), []);
  assert.deepEqual(carriedBy(await live('green')), nothingCarried);
});

async function live(instance: Instance): Promise<KubeObject> {
  const object = agents[instance];
  assert.ok(object !== undefined);
  const { namespace, name = '' } = object.metadata;
  return bed.client.get(kindOf(object), { namespace, name });
}
