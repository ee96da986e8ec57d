/** What `rossoctl uninstall` leaves of an install on a node, whether its operator is at work or gone: workloads that ran throughout, and pods that nobody asks about. */

import assert from 'node:assert/strict';
import { kinds } from '../../runtime/api/kinds.ts';
import type { Deployment } from '../../runtime/api/kubernetes.ts';
import { annotations, install, labels } from '../../runtime/api/names.ts';
import type { Kind, KubeObject } from '../../runtime/engine/types.ts';
import { textOf, tracesIn } from '../../runtime/operator/traces.ts';
import { cli } from '../runtime/cli/run-cli.ts';
import { eventually } from '../support/engine-bed.ts';
import { carriedBy, nothingCarried } from '../support/enrolments.ts';
import { isReady, type NodeBed, pod } from './node-bed.ts';

/** Uninstalls; `namespace` has one Deployment, enrolled, with an injected pod that is ready. */
export async function uninstalled({ client, kubeconfig, podsOf }: NodeBed, namespace: string): Promise<void> {
  const { items } = await client.list<Deployment>(kinds.deployment, { namespace });
  const [{ metadata }, ...others] = items as readonly [Deployment, ...Deployment[]];
  assert.equal(others.length, 0);
  const key = { namespace, name: metadata.name ?? '' };
  let fewest = Infinity;
  const watch = async (): Promise<void> => {
    const { status } = await client.get<Deployment>(kinds.deployment, key);
    fewest = Math.min(fewest, status?.availableReplicas ?? 0);
  };
  const watching = setInterval(() => void watch(), 100).unref();
  const { code, out, err } = await cli(['uninstall', '--kubeconfig', kubeconfig, '--yes']);
  assert.equal(code, 0, out + err);
  const { gates, operators, resources, networkPolicies } = await tracesIn(client, install.namespace);
  assert.deepEqual([...gates, ...operators, ...resources, ...networkPolicies].map(textOf), []);
  assert.deepEqual(carriedBy(await client.get(kinds.deployment, key)), nothingCarried);
  // Its pods are made anew without what was injected, one before the other goes.
  await eventually(async () => {
    const pods = await podsOf(namespace);
    assert.equal(pods.length, 1);
    assert.ok(pods.every((one) => isReady(one) && one.metadata.annotations?.[annotations.injected] === undefined));
  });
  clearInterval(watching);
  assert.equal(fewest, 1, 'its owner had a pod that was available throughout');
  for (const object of [pod(namespace, 'labelled', { [labels.type]: 'agent' }), pod(namespace, 'unlabelled')]) {
    await client.create<KubeObject>(kinds.pod as Kind, object);
  }
  await eventually(async () => assert.equal((await podsOf(namespace)).filter(isReady).length, 3));
  await client.remove({ kind: kinds.namespace, name: namespace });
  await eventually(async () => {
    const { items: left } = await client.list(kinds.namespace);
    assert.ok(
      left.every((each) => each.metadata.name !== namespace),
      'nothing holds the namespace',
    );
  });
}
