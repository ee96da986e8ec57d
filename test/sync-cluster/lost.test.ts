/** A generated card that loses to one made at the same moment: the refusal of our own webhook, played by an admission policy, is no failure. */

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Kind, KubeObject } from '../../runtime/engine/types.ts';
import { eventually } from '../support/engine-bed.ts';
import { inNamespace, type Operator, startSyncBed, type SyncBed } from './bed.ts';

let bed: SyncBed;
let operator: Operator;
before(async () => {
  bed = await startSyncBed('card-lost');
  operator = await bed.startOperator();
});
after(() => bed.stop());

const kindNamed = (kind: string, plural: string): Kind => ({
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind,
  plural,
  namespaced: false,
});

/** Refuses every generated card that is created, in these words. */
async function refuse(message: string): Promise<void> {
  const policy = kindNamed('ValidatingAdmissionPolicy', 'validatingadmissionpolicies');
  const binding = kindNamed('ValidatingAdmissionPolicyBinding', 'validatingadmissionpolicybindings');
  const rule = {
    apiGroups: ['agent.rossoctl.dev'],
    apiVersions: ['*'],
    resources: ['agentcards'],
    operations: ['CREATE'],
  };
  const specs = [
    [
      policy,
      {
        failurePolicy: 'Fail',
        matchConstraints: { resourceRules: [rule] },
        validations: [{ expression: 'false', message, reason: 'Forbidden' }],
      },
    ],
    [binding, { policyName: 'refusal', validationActions: ['Deny'] }],
  ] as const;
  for (const [kind, spec] of specs) {
    const object = { apiVersion: kind.apiVersion, kind: kind.kind, metadata: { name: 'refusal' }, spec };
    await bed.client.create(kind, object as KubeObject);
  }
}

test('it is tried once, and no pass fails', async () => {
  await refuse('an AgentCard already targets Deployment weather in namespace lost: mine');
  const ns = await inNamespace(bed, 'lost');
  await eventually(async () => {
    // A policy takes a moment until it holds.
    const error = await ns.createCard('probe', 'storm').then(
      () => ns.removeCard('probe'),
      (reason: unknown) => reason,
    );
    return error instanceof Error;
  });
  await ns.create('Deployment', 'weather');
  await eventually(() => ns.writes().length > 0);
  await operator.pass('Deployment', { namespace: ns.namespace, name: 'weather' });
  assert.deepEqual(await ns.names(), []);
  assert.deepEqual(
    operator.log.lines.filter(({ message }) => message.startsWith('reconcile')),
    [],
  );
});
