/** Cards that a workload has left behind beside a real API server, as `kubectl delete --cascade=orphan` leaves them. */

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { kinds } from '../../runtime/api/kinds.ts';
import { eventually } from '../support/engine-bed.ts';
import { handMade, inNamespace, type Operator, type Space, startSyncBed, type SyncBed } from './bed.ts';

let bed: SyncBed;
let operator: Operator;
before(async () => {
  bed = await startSyncBed('card-orphans');
  operator = await bed.startOperator();
});
after(() => bed.stop());

const generated = 'weather-deployment-card';

/** The garbage collector takes the owner away, and then the workload is gone. */
async function orphan(ns: Space): Promise<void> {
  await ns.create('Deployment', 'weather');
  await ns.has(generated);
  await operator.stop();
  await ns.patchCard(generated, { metadata: { ownerReferences: null } });
}

test('a generated card without owner goes as soon as its workload is gone, and a card made by hand stays', async () => {
  const ns = await inNamespace(bed, 'left');
  await orphan(ns);
  await ns.createCard('mine', 'storm');
  await ns.removeWorkload('Deployment', 'weather');
  operator = await bed.startOperator();
  await ns.has('mine');
  await eventually(async () => assert.equal((await ns.events()).length, 1));
  const [event = ''] = await ns.events();
  assert.match(event, /^CardWithdrawn: Deployment weather is gone, and nobody owns its generated AgentCard/);
});

test('while the workload is there the card stays, and is owned again', async () => {
  const ns = await inNamespace(bed, 'owned');
  await orphan(ns);
  operator = await bed.startOperator();
  await eventually(async () => assert.equal((await ns.card(generated)).metadata.ownerReferences?.length, 1));
  assert.ok(ns.writes().every((write) => !write.startsWith('delete')));
});

test('one whose spec somebody else has written stays, and the event says how to delete it', async () => {
  const ns = await inNamespace(bed, 'applied');
  await orphan(ns);
  const body = handMade(ns.namespace, generated, 'weather', { syncPeriod: '5m' });
  await bed.client.apply({ kind: kinds.agentCard, body: body as never }, { fieldManager: 'kubectl' });
  await ns.removeWorkload('Deployment', 'weather');
  operator = await bed.startOperator();
  await eventually(async () => assert.equal((await ns.events()).length, 1));
  const [event = ''] = await ns.events();
  assert.match(
    event,
    /^CardNotWithdrawn: .*kubectl has written its spec.*kubectl -n applied delete agentcard weather-deployment-card$/,
  );
  assert.deepEqual(await ns.names(), [generated]);
});
