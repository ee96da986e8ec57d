/** UP-01, UP-02: the platform taken out by one command, with the operator at work and with its whole namespace already gone. */

import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { kinds } from '../../runtime/api/kinds.ts';
import { install } from '../../runtime/api/names.ts';
import { isNotFound } from '../../runtime/engine/errors.ts';
import type { Kind, KubeObject } from '../../runtime/engine/types.ts';
import { textOf, tracesIn } from '../../runtime/operator/traces.ts';
import { cli } from '../runtime/cli/run-cli.ts';
import { eventually } from '../support/engine-bed.ts';
import { carriedBy, nothingCarried } from '../support/enrolments.ts';
import { type OperatorBed, startOperatorBed } from '../support/operator-bed.ts';
import { workloadKinds, type Written } from '../support/workload-objects.ts';
import { verifying, verifyingFlags } from './card-life.ts';
import { enrolled } from './enrolled.ts';

let bed: OperatorBed | undefined;
afterEach(async () => {
  await bed?.stop();
  bed = undefined;
});

const rossoctl = (at: OperatorBed, ...argv: readonly string[]) =>
  cli(['uninstall', '--kubeconfig', at.plane.kubeconfigPath, ...argv]);

async function assertNothingLeft(at: OperatorBed, written: readonly Written[]): Promise<void> {
  const { gates, operators, resources, networkPolicies } = await tracesIn(at.client, install.namespace);
  const left = [...gates, ...operators, ...resources, ...networkPolicies];
  assert.deepEqual(left.map(textOf), []);
  for (const object of written) {
    const kind = workloadKinds[object.kind as keyof typeof workloadKinds] as Kind;
    const { namespace, name = '' } = object.metadata;
    const now: KubeObject = await at.client.get(kind, { namespace, name });
    assert.deepEqual(carriedBy(now), nothingCarried, `${object.kind} ${name}`);
    assert.deepEqual(now.metadata.labels, object.metadata.labels);
    assert.equal(now.metadata.deletionTimestamp, undefined);
  }
}

test('UP-01 beside an operator that runs: said first, then done, and done again without harm', {
  timeout: 600_000,
}, async () => {
  bed = await startOperatorBed('uninstall', { platform: verifying });
  const operator = await bed.startReady('operator', { flags: verifyingFlags });
  const written = await enrolled(bed.client, 'team1');
  const said = await rossoctl(bed);
  assert.equal(said.code, 0, said.err);
  for (const line of [
    'MutatingWebhookConfiguration rossoctl-injector',
    'ValidatingAdmissionPolicy agent-label-protection',
    'AgentRuntime team1/a-deployment',
    'AgentCard team1/a-statefulset-statefulset-card',
    'NetworkPolicy team1/a-deployment-signature-policy',
  ]) {
    assert.ok(said.out.split('\n').includes(line), `${line} in ${said.out}`);
  }
  assert.match(said.err, /objects would be deleted; do it with --yes/);
  assert.equal((await bed.client.list(kinds.agentRuntime)).items.length, 5, 'nothing was done');
  // Its Deployment is not in this cluster: it is stopped as the deletion of its pods would stop it.
  await operator.stop();
  const done = await rossoctl(bed, '--yes');
  assert.equal(done.code, 0, done.err);
  await assertNothingLeft(bed, written);
  const again = await rossoctl(bed, '--yes');
  assert.match(again.out, /nothing of the platform is left/);
  assert.equal(again.code, 0);
});

test('UP-02 with the operator and its namespace gone: workloads are let go, resources and CRDs can be removed', {
  timeout: 600_000,
}, async () => {
  bed = await startOperatorBed('uninstall-late', { platform: verifying });
  const { client } = bed;
  const operator = await bed.startReady('operator', { flags: verifyingFlags });
  const written = await enrolled(bed.client, 'team1');
  await operator.kill();
  await client.remove({ kind: kinds.namespace, name: install.namespace });
  await eventually(async () => {
    assert.equal(await client.get(kinds.namespace, { name: install.namespace }).catch(isNotFound), true);
  });
  const done = await rossoctl(bed, '--yes');
  assert.equal(done.code, 0, done.err);
  await assertNothingLeft(bed, written);
  const crds = (await client.list(kinds.customResourceDefinition)).items.filter(({ metadata }) =>
    metadata.name?.endsWith('.agent.rossoctl.dev'),
  );
  assert.equal(crds.length, 2);
  for (const { metadata } of crds)
    await client.remove({ kind: kinds.customResourceDefinition, name: metadata.name ?? '' });
  await eventually(async () => {
    const { items } = await client.list(kinds.customResourceDefinition);
    assert.deepEqual(
      items.filter(({ metadata }) => metadata.name?.endsWith('.agent.rossoctl.dev')),
      [],
    );
  });
  assert.equal((await rossoctl(bed)).code, 0);
});
