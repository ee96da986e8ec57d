/** The ConfigMaps in which a real SPIRE publishes its trust bundle, in a real API server, as the operator reads them. */

import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { bundleText, parseTrustBundle } from '../../runtime/signature/trust-bundle.ts';
import { type ControlPlane, startControlPlane } from '../lab/control-plane.ts';
import { type Spire, startSpire } from '../lab/spire/spire.ts';
import {
  type Bed,
  configMap,
  configMaps,
  createBed,
  eventually,
  namespaces,
  portOf,
  reach,
} from '../support/engine-bed.ts';
import { signedBy, verdict, word, workloadId } from './cards.ts';

const namespace = 'spire';
const id = workloadId('cluster.local', 'team1', 'weather');

suite('publishing', () => {
  let plane: ControlPlane;
  let bed: Bed;
  let spire: Spire;

  /** What the operator reads when it is told no key. */
  const published = async (name: string) => {
    const { data = {} } = await bed.client.get(configMaps, { namespace, name });
    return bundleText(data, '');
  };
  const textOf = async (name: string, key: string): Promise<string> => {
    const found = await published(name);
    assert.ok('text' in found, 'problem' in found ? found.problem : '');
    assert.equal(found.key, key);
    return found.text;
  };
  const anchorsOf = (text: string): readonly string[] =>
    parseTrustBundle(text)
      .anchors.map(({ fingerprint }) => fingerprint)
      .sort();

  before(async () => {
    plane = await startControlPlane({ name: 'publishing' });
    bed = createBed(reach({ port: portOf(plane), certificatesDir: plane.certificatesDir }));
    await bed.client.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
    const { data: _, ...empty } = configMap(namespace, 'spire-bundle');
    await bed.client.create(configMaps, empty);
    assert.ok('problem' in (await published('spire-bundle')));
    const publish = {
      kubeconfigPath: plane.kubeconfigPath,
      namespace,
      pemConfigMap: 'spire-bundle',
      spiffeConfigMap: 'spire-bundle-document',
    };
    spire = await startSpire({ name: 'publishing', publish });
    await eventually(() => textOf('spire-bundle', 'bundle.crt'));
    await eventually(() => textOf('spire-bundle-document', 'bundle.spiffe'));
  });
  after(async () => {
    await spire.stop();
    await bed.close();
    await plane.stop();
  });

  test('SG-09: SPIRE fills an empty, unlabelled ConfigMap; what it writes is read without naming a key', async () => {
    const served = anchorsOf(await spire.bundlePem());
    assert.equal(served.length, 1);
    for (const [name, key] of forms) assert.deepEqual(anchorsOf(await textOf(name, key)), served, name);
    const { metadata } = await bed.client.get(configMaps, { namespace, name: 'spire-bundle' });
    assert.equal(metadata.labels, undefined);
  });

  test('SG-10: a change of roots reaches the ConfigMaps, and with them the verdict on a card', async () => {
    await spire.createEntry(id);
    const svid = await spire.fetchSvid(id);
    const served = signedBy(svid);
    const { authorities } = spire;
    const { active: oldRoot } = await authorities.show();
    const says = (form: Form, wanted: string, card = served) =>
      eventually(async () => assert.equal(word(verdict(card, await textOf(...form))), wanted, form[0]));
    const rootsOf = async (form: Form) => anchorsOf(await textOf(...form)).length;

    await authorities.activate(await authorities.prepare());
    for (const form of forms) {
      await eventually(async () => assert.equal(await rootsOf(form), 2, form[0]));
      await says(form, 'Bound');
    }
    await authorities.taint(oldRoot);
    const next = await spire.fetchSvid(id, ({ leaf }) => leaf.serialNumber !== svid.leaf.serialNumber);
    await authorities.revoke(oldRoot);
    await says(document, 'untrusted-chain');
    // SPIRE 1.13 tells its publishers of a revocation, and its notifiers only with the next change of the bundle.
    await authorities.prepare();
    await says(pem, 'untrusted-chain');
    for (const form of forms) {
      await eventually(async () => assert.equal(await rootsOf(form), 2, form[0]));
      await says(form, 'Bound', signedBy(next));
    }
  });
});

/** A ConfigMap and the key it holds the bundle under. */
type Form = readonly [string, string];

const pem: Form = ['spire-bundle', 'bundle.crt'];
const document: Form = ['spire-bundle-document', 'bundle.spiffe'];
const forms = [pem, document];
