/** What the API server accepts and allows: every variant as it is written, and the declared rights, without which only this feature stops. */

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import * as fc from 'fast-check';
import { createAgentRuntimeController } from '../../runtime/agent-runtime/controller.ts';
import { permissions as runtimePermissions } from '../../runtime/agent-runtime/permissions.ts';
import { kinds } from '../../runtime/api/kinds.ts';
import type { NetworkPolicy } from '../../runtime/api/kubernetes.ts';
import { install } from '../../runtime/api/names.ts';
import { peerViolations } from '../../runtime/config/peers.ts';
import type { Controller, Permission } from '../../runtime/engine/types.ts';
import { permissions } from '../../runtime/network-policy/permissions.ts';
import { permissiveRules, restrictiveRules } from '../../runtime/network-policy/policies.ts';
import { arbitrarySettings } from '../runtime/network-policy/arbitrary-settings.ts';
import { surroundings } from '../runtime/network-policy/fixtures.ts';
import { made, variants } from '../runtime/network-policy/variants.ts';
import { eventually } from '../support/engine-bed.ts';
import { grant, makeServiceAccount, type Rule } from '../support/service-account.ts';
import { runtimeFor, workload } from '../support/workload-objects.ts';
import { inNamespace, type PolicyBed, startPolicyBed } from './bed.ts';

let bed: PolicyBed;
before(async () => {
  bed = await startPolicyBed('network-policy-rights');
});
after(() => bed.stop());

/** What the API server makes of a policy: nothing else, or the controller would see a difference at every look. */
async function assertKept(namespace: string, policy: NetworkPolicy, name: string): Promise<void> {
  const object = { ...policy, metadata: { ...policy.metadata, namespace, name } };
  const stored = await bed.client.create(kinds.networkPolicy, object);
  assert.deepEqual(stored.spec, JSON.parse(JSON.stringify(policy.spec)), name);
}

test('the API server keeps every variant exactly as it is written', async () => {
  const ns = await inNamespace(bed, 'variants');
  for (const [name, policy] of Object.entries(variants)) await assertKept(ns.namespace, policy, name);
});

test('the API server keeps what any accepted configuration leads to', async () => {
  const ns = await inNamespace(bed, 'settings');
  const settings = fc
    .sample(arbitrarySettings, { numRuns: 150, seed: 1 })
    .filter((section) => peerViolations({ networkPolicy: section }).length === 0);
  assert.ok(settings.length > 20, `${settings.length} accepted`);
  for (const [i, section] of settings.entries()) {
    const around = surroundings(section);
    await assertKept(ns.namespace, made(permissiveRules(around)), `open-${i}`);
    await assertKept(ns.namespace, made(restrictiveRules(around)), `closed-${i}`);
  }
});

const rulesOf = (all: readonly Permission[], isOwn: boolean): readonly Rule[] =>
  all
    .filter(({ scope }) => (scope === 'own') === isOwn)
    .map(({ apiGroup, resources, verbs, resourceNames }) => ({
      apiGroups: [apiGroup],
      resources,
      verbs,
      ...(resourceNames === undefined ? {} : { resourceNames }),
    }));

/** An account with these rights and no other; returns its token. */
async function accountWith(name: string, all: readonly Permission[]): Promise<string> {
  const { namespace } = install;
  const token = await makeServiceAccount(bed.client, namespace, name);
  await grant(bed.client, `${namespace}/${name}`, { name, rules: rulesOf(all, false) });
  await grant(bed.client, `${namespace}/${name}`, { namespace, name, rules: rulesOf(all, true) });
  return token;
}

test('RB-02: an operator with the declared rights alone does all of this controller’s work', async () => {
  const operator = await bed.startOperator({ token: await accountWith('declared', permissions) });
  const ns = await inNamespace(bed, 'declared');
  await ns.agent();
  await ns.becomes('restrictive');
  await ns.judge('True');
  await ns.becomes('permissive');
  await ns.says('Permissive');
  const spec = { targetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'storm' } };
  await bed.client.mergePatch({ kind: kinds.agentCard, namespace: ns.namespace, name: 'weather' }, { spec });
  await ns.becomes('absent');
  await operator.settled();
  assert.deepEqual(await ns.events(), ['NetworkOpened']);
  const refused = operator.log.lines.filter(({ message, fields }) =>
    /403|forbidden/i.test(message + JSON.stringify(fields)),
  );
  assert.deepEqual(refused, []);
  await operator.stop();
});

test('RB-02: without the right to network policies AgentRuntimes are enrolled as ever, and the missing right is named', async () => {
  const rest = permissions.filter(({ resources }) => !resources.includes('networkpolicies'));
  const operator = await bed.startOperator({
    token: await accountWith('crippled', [...rest, ...runtimePermissions]),
    beside: ({ layers, watches, metrics }) => [
      createAgentRuntimeController({
        layers,
        watches,
        files: {},
        metrics,
        needsEnabledNamespace: false,
        operatorNamespace: install.namespace,
      }) as unknown as Controller,
    ],
  });
  const ns = await inNamespace(bed, 'crippled');
  const object = workload('Deployment', ns.namespace, 'weather');
  await ns.agent();
  await ns.create(runtimeFor(object));
  await eventually(async () => {
    const { status } = await bed.client.get(kinds.agentRuntime, { namespace: ns.namespace, name: 'weather' });
    assert.equal(status?.phase, 'Active');
  });
  const state = () => operator.manager.health().controllers.find(({ name }) => name === 'networkpolicy');
  assert.equal(state()?.state, 'waiting');
  assert.match(state()?.reason ?? '', /networkpolicies: .*403.*networkpolicies/);
  assert.ok(operator.manager.health().isReady, 'the process stays in service');
  assert.deepEqual(await ns.policies(), []);
  const own = permissions.filter(({ resources }) => resources.includes('networkpolicies'));
  await grant(bed.client, `${install.namespace}/crippled`, { name: 'crippled-given', rules: rulesOf(own, false) });
  await eventually(() => assert.equal(state()?.state, 'running'));
  await ns.becomes('restrictive');
});
