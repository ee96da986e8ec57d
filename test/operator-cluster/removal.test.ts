/** PU-03: an operator whose install is taken down lets go of everything before it ends, and on no other end of its. */

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { kinds } from '../../runtime/api/kinds.ts';
import { install } from '../../runtime/api/names.ts';
import type { KubeObject } from '../../runtime/engine/types.ts';
import { networkPoliciesIn, tracesIn } from '../../runtime/operator/traces.ts';
import { eventually } from '../support/engine-bed.ts';
import { carriedBy, nothingCarried } from '../support/enrolments.ts';
import { type OperatorBed, startOperatorBed, untilLeading } from '../support/operator-bed.ts';
import { kindOf } from '../support/operator-platform.ts';
import { workload, type Written } from '../support/workload-objects.ts';
import { verifying, verifyingFlags } from './card-life.ts';
import { enrolled } from './enrolled.ts';

let bed: OperatorBed;
let written: readonly Written[];
before(async () => {
  bed = await startOperatorBed('removal', { platform: verifying });
});
after(() => bed.stop());

const own = { kind: kinds.deployment, namespace: install.namespace, name: install.deployment };
const held = 'test.example/held';

async function createDeployment(): Promise<void> {
  const object = workload('Deployment', install.namespace, install.deployment, { replicas: 0 });
  await bed.client.create(kindOf(object), object);
}

/** The operator's Deployment, as it looks while its pods end. */
async function beginDeletion(): Promise<void> {
  await bed.client.mergePatch(own, { metadata: { finalizers: [held] } });
  await bed.client.remove(own);
}

async function removeWebhooks(): Promise<void> {
  const { gates } = await tracesIn(bed.client, install.namespace);
  for (const gate of gates.filter(({ kind }) => kind.kind.endsWith('WebhookConfiguration')))
    await bed.client.remove(gate);
}

const resources = async (): Promise<readonly KubeObject[]> => [
  ...(await bed.client.list(kinds.agentRuntime)).items,
  ...(await bed.client.list(kinds.agentCard)).items,
];

/** A whole life of an operator, which ends as its pod would. */
async function live(name: string, during?: () => Promise<void>) {
  const operator = await bed.start(name, { flags: verifyingFlags });
  await untilLeading(operator);
  await during?.();
  const { code } = await operator.stop(60_000);
  assert.equal(code, 0);
  return operator.lines;
}

async function assertHeld(): Promise<void> {
  for (const object of written) {
    assert.notDeepEqual(carriedBy(await bed.client.get(kindOf(object), nameOf(object))), nothingCarried);
  }
  const unheld = (await resources()).filter(({ metadata }) => (metadata.finalizers ?? []).length === 0);
  assert.deepEqual(unheld, []);
}

const nameOf = ({ metadata: { namespace, name = '' } }: KubeObject) => ({ namespace, name });

test('an end beside webhooks, beside a Deployment that stays, or beside none, takes nothing back', {
  timeout: 600_000,
}, async () => {
  const operator = await bed.startReady('first', { flags: verifyingFlags });
  await untilLeading(operator);
  written = await enrolled(bed.client, 'team1');
  await createDeployment();
  await operator.stop();
  await assertHeld();
  await beginDeletion();
  await live('beside-webhooks');
  await assertHeld();
  await bed.client.mergePatch(own, { metadata: { finalizers: null } });
  await removeWebhooks();
  await live('beside-no-deployment');
  await assertHeld();
  await createDeployment();
  await live('beside-a-deployment-that-stays');
  await assertHeld();
});

test('an end while another install has taken over what it watches takes nothing back', {
  timeout: 600_000,
}, async () => {
  const { client } = bed;
  const injector = bed.objects.find(({ kind }) => kind === 'MutatingWebhookConfiguration');
  assert.ok(injector !== undefined);
  const name = 'rossoctl-injector-successor';
  const webhooks = (injector['webhooks'] as readonly { readonly clientConfig: object }[]).map((hook) => ({
    ...hook,
    failurePolicy: 'Ignore',
    clientConfig: {
      service: { namespace: 'successor', name: 'rossoctl-webhook', path: '/mutate-workloads-authbridge' },
    },
  }));
  await client.create(kindOf(injector), Object.assign({ ...injector, metadata: { name } }, { webhooks }));
  await live('succeeded', beginDeletion);
  await assertHeld();
  await client.mergePatch(own, { metadata: { finalizers: null } });
  await client.remove({ kind: kindOf(injector), name });
  await createDeployment();
});

test('PU-03 with its Deployment being deleted and its webhooks gone, everything is let go and can be removed', {
  timeout: 600_000,
}, async () => {
  const { client } = bed;
  const before = (await resources()).length;
  const lines = await live('last', beginDeletion);
  assert.ok(lines.some(({ msg }) => msg === 'every workload was let go'));
  for (const object of written) {
    const now = await client.get(kindOf(object), nameOf(object));
    assert.deepEqual(carriedBy(now), nothingCarried, `${object.kind} ${object.metadata.name}`);
    assert.deepEqual(now.metadata.labels, object.metadata.labels);
  }
  assert.deepEqual(await networkPoliciesIn(client), []);
  const kept = await resources();
  assert.equal(kept.length, before, 'no resource of a user is deleted');
  assert.deepEqual(
    kept.flatMap(({ metadata }) => metadata.finalizers ?? []),
    [],
  );
  for (const name of ['agentruntimes', 'agentcards']) {
    await client.remove({ kind: kinds.customResourceDefinition, name: `${name}.agent.rossoctl.dev` });
  }
  await eventually(async () => {
    const { items } = await client.list(kinds.customResourceDefinition);
    assert.ok(!items.some(({ metadata }) => metadata.name?.endsWith('.agent.rossoctl.dev')));
  });
});
