/** The real Pulumi CLI with the real Kubernetes provider: an empty cluster, an install, what the operator writes, one value, the end. */

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { kinds } from '../../runtime/api/kinds.ts';
import { install, webhookConfigurations } from '../../runtime/api/names.ts';
import { textOf, tracesIn } from '../../runtime/operator/traces.ts';
import { portOf, eventually } from '../support/engine-bed.ts';
import { untilReady } from '../support/operator-bed.ts';
import { startOperatorProcess } from '../support/operator-process.ts';
import { tokenOf, writeTokenKubeconfig } from '../support/operator-platform.ts';
import { startPulumiBed } from './bed.ts';

let bed: Awaited<ReturnType<typeof startPulumiBed>>;
before(async () => {
  bed = await startPulumiBed('life');
});
after(() => bed.stop());

const image = 'example.test/rossoctl:1';
const tracedTo = (endpoint: string) => ({
  platform: { image, namespaces: [{ name: 'team1' }], config: { trace: { endpoint } } },
});

test('PU-01 PU-02: up on an empty cluster, no change after the operator has written, one field for one value, and an end', {
  timeout: 600_000,
}, async () => {
  const { client, plane } = bed;
  const stack = await bed.stack('life', tracedTo('first.test:4317'));
  const planned = await stack.preview();
  assert.ok(
    planned.length > 20 && planned.every(({ op }) => op === 'create'),
    'a preview needs nothing in the cluster',
  );
  const { created } = await stack.run('up');
  assert.equal(created, planned.length, 'one run does everything');
  assert.deepEqual(await stack.preview(), []);

  const { certificatesDir, dir } = plane;
  const token = await tokenOf(bed.transport);
  const kubeconfig = writeTokenKubeconfig({ dir, certificatesDir, port: portOf(plane), token });
  const operator = await startOperatorProcess({ name: 'operator', flags: { kubeconfig } });
  await untilReady(operator);
  const bundles = async (): Promise<readonly string[]> => {
    const mutating = await client.get(kinds.mutatingWebhookConfiguration, { name: webhookConfigurations.injector });
    const validating = await client.get(kinds.validatingWebhookConfiguration, {
      name: webhookConfigurations.validator,
    });
    return [mutating, validating].flatMap(({ webhooks = [] }) =>
      webhooks.map(({ clientConfig }) => clientConfig.caBundle ?? ''),
    );
  };
  await eventually(async () => assert.ok((await bundles()).every((one) => one !== '')));
  const given = await bundles();
  assert.ok(given.length >= 2);
  const refreshed = await stack.run('refresh');
  assert.deepEqual(Object.keys(refreshed), ['unchanged'], 'what the operator writes is no drift');
  assert.deepEqual(await bundles(), given, 'PU-02: nor taken away by a refresh');
  assert.deepEqual(await stack.preview(), []);

  stack.configure(tracedTo('second.test:4317'));
  const [changed, ...others] = await stack.preview();
  assert.deepEqual(others, []);
  assert.equal(changed?.op, 'update');
  assert.match(changed.urn, /ConfigMap::rossoctl-system\/rossoctl-platform-config$/);
  assert.deepEqual(Object.keys(changed.detailedDiff ?? {}), ['data["config.yaml"]']);
  const { updated, unchanged } = await stack.run('up');
  assert.deepEqual([updated, unchanged], [1, planned.length - 1]);
  assert.deepEqual(await bundles(), given, 'PU-02: nor by an up');

  await operator.stop();
  const { deleted } = await stack.run('destroy');
  assert.equal(deleted, planned.length);
  const { gates, resources } = await tracesIn(client, install.namespace);
  assert.deepEqual([...gates, ...resources].map(textOf), []);
});
