/** Cards, verdicts and network policies of one operator, restarted as a whole on a real API server. */

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { kinds } from '../../runtime/api/kinds.ts';
import type { Kind } from '../../runtime/engine/types.ts';
import { eventually } from '../support/engine-bed.ts';
import { type Authority, createAuthority, signedCard } from '../support/svid.ts';
import { answers } from './agents.ts';
import { type CardBed, startCardBed } from './bed.ts';
import { cardOf } from './objects.ts';
import { inNamespace, writeBundle } from './space.ts';

let bed: CardBed;
let root: Authority;
before(async () => {
  bed = await startCardBed('cards-edited');
  root = await createAuthority('root');
  await writeBundle(bed, { 'bundle.crt': root.pem });
});
after(() => bed.stop());

test('a restart closes nothing whose sync period was edited meanwhile, although the agent does not answer', async () => {
  const ns = await inNamespace(bed, 'edited');
  const first = await bed.startOperator({ isEnforcing: true });
  const body = signedCard(cardOf('weather'), await root.issue(`spiffe://cluster.local/ns/${ns.namespace}/sa/default`));
  await ns.addAgent('weather', { body });
  await ns.says('weather', 'NetworkPolicyReady', 'True/Permissive');
  await first.stop();
  ns.behave('weather', answers(503));
  await ns.patch(kinds.agentCard as Kind, 'weather', { spec: { syncPeriod: '5m' } });
  const second = await bed.startOperator({ isEnforcing: true });
  const seen = new Set<string>();
  await eventually(async () => {
    seen.add(await ns.condition('weather', 'NetworkPolicyReady')).add(await ns.condition('weather', 'Verified'));
    assert.equal(await ns.condition('weather', 'Synced'), 'False/HTTPStatus');
  });
  assert.deepEqual([...seen].sort(), ['True/Permissive', 'True/SignatureVerified']);
  assert.deepEqual(await ns.labels('weather'), ['true', 'true']);
  await second.settled();
  const ofPolicies = second.requests(ns.namespace).filter(({ objectRef }) => objectRef?.resource === 'networkpolicies');
  assert.deepEqual(
    ofPolicies.filter(({ verb }) => verb !== 'list').map(({ verb }) => verb),
    [],
  );
  await second.stop();
});
