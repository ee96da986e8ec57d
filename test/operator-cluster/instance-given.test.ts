/** An install is given an instance where it is: what is left of the plain names is told, and its agents are not touched. */

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { kinds } from '../../runtime/api/kinds.ts';
import type { KubeObject } from '../../runtime/engine/types.ts';
import { eventually } from '../support/engine-bed.ts';
import { untilSays } from '../support/enrolments.ts';
import { type OperatorBed, startOperatorBed, untilLeading } from '../support/operator-bed.ts';
import { kindOf, type PlatformProps } from '../support/operator-platform.ts';
import { runtimeFor, workload, workloadKinds, type Written } from '../support/workload-objects.ts';
import { type SecondInstall, startSecondInstall } from './second-install.ts';

const platform: PlatformProps = { mode: 'namespaced', namespaces: [{ name: 'team1' }] };
let bed: OperatorBed;
let blue: SecondInstall | undefined;
before(async () => {
  bed = await startOperatorBed('instance-given', { platform });
});
after(async () => {
  await blue?.stop();
  await bed.stop();
});

async function enrol(name: string): Promise<Written> {
  const object = workload('Deployment', 'team1', name);
  await bed.client.create(workloadKinds.Deployment, object);
  await bed.client.create(kinds.agentRuntime, runtimeFor(object));
  return object;
}

async function templateOf({ metadata: { namespace, name = '' } }: KubeObject): Promise<unknown> {
  return (await bed.client.get(kinds.deployment, { namespace, name })).spec.template;
}

/** An object that the plain install has and the instance has not. */
function isPlain({ kind, metadata: { name = '' } }: KubeObject): boolean {
  const ofCluster = ['rossoctl-injector', 'rossoctl-validator', 'agent-label-protection'];
  return ofCluster.includes(name) || (kind.includes('Role') && name.startsWith('rossoctl-operator-'));
}

test('agents stay as they are, what is left is told, and once it is deleted everything works', {
  timeout: 600_000,
}, async () => {
  // A namespace that is not there keeps it from nothing in the other.
  const plain = await bed.startReady('plain', { flags: { namespaces: 'team1,absent' } });
  await untilLeading(plain);
  const early = await enrol('early');
  await untilSays(bed.client, early, 'Active/Configured');
  const template = await templateOf(early);
  await plain.stop();

  blue = await startSecondInstall(bed, { ...platform, instance: 'blue' }, { instance: 'blue', namespaces: 'team1' });
  const { operator } = blue;
  // In a cluster the Service is one, before and after.
  bed.service.add(operator);
  await eventually(async () => {
    const { reason = '' } = (await operator.readiness())?.degraded.find(({ name }) => name === 'installation') ?? {};
    assert.match(reason, /kubectl delete mutatingwebhookconfiguration rossoctl-injector\)/);
    assert.match(reason, /kubectl delete validatingwebhookconfiguration rossoctl-validator\)/);
  });
  const late = await enrol('late');
  await eventually(() => {
    const refused = operator.lines
      .map((line) => JSON.stringify(line))
      .some((line) => line.includes("'agent-label-protection'"));
    assert.ok(refused, 'the policy of the plain install knows another account');
  });

  for (const object of bed.objects.filter(isPlain)) {
    const { namespace, name = '' } = object.metadata;
    await bed.client.remove({ kind: kindOf(object), namespace, name });
  }
  await untilSays(bed.client, late, 'Active/Configured');
  await untilSays(bed.client, early, 'Active/Configured');
  assert.deepEqual(await templateOf(early), template);
  await eventually(async () => assert.deepEqual((await operator.readiness())?.degraded, []));
});
