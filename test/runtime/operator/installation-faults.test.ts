/** What of an install does not fit the operator: each sign on its own, and what is no sign. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { crdManifest, crdSources } from '../../../runtime/api/crds.ts';
import type { WebhookEntry } from '../../../runtime/api/kubernetes.ts';
import { crdFault, keptRegistration, leftoverFault } from '../../../runtime/operator/installation-faults.ts';

describe('a definition', () => {
  const [known] = crdSources.map(crdManifest);
  assert.ok(known !== undefined);
  const spec = { ...known.spec, versions: [] };

  test('as it was built is no fault, and neither is one that has more', () => {
    assert.equal(crdFault(known, known), undefined);
    const versions = [...(known.spec['versions'] as readonly object[]), { name: 'v1', served: true }];
    assert.equal(crdFault(known, { spec: { ...known.spec, versions } }), undefined);
  });

  test('UP-03 that lacks something is named with what it lacks and what to do', () => {
    const fault = crdFault(known, { spec });
    assert.equal(fault?.kind, 'CustomResourceDefinition');
    assert.deepEqual(fault.older?.missing, ['v1alpha1: not served']);
    assert.match(
      fault.sentence,
      /agentruntimes\.agent\.rossoctl\.dev is older than this operator \(v1alpha1: not served\).*apply the CustomResourceDefinitions of release \S+ \(folder 10-crds/,
    );
  });

  test('UP-03 that lacks much: the sentence names the first three, the rest is counted', () => {
    const other = { spec: { ...spec, group: 'a', scope: 'b', names: { kind: 'c', plural: 'd' } } };
    const fault = crdFault(known, other);
    assert.equal(fault?.older?.missing.length, 5);
    assert.match(fault.sentence, /; and 2 more\)/);
  });

  test('that is absent is told apart from one that is older', () => {
    const fault = crdFault(known, undefined);
    assert.match(fault?.sentence ?? '', /does not exist: apply/);
    assert.equal(fault?.older, undefined);
  });
});

describe('a webhook registration', () => {
  const own = { namespace: 'rossoctl-system', name: 'rossoctl-webhook' };
  const kind = 'MutatingWebhookConfiguration';
  const service = { namespace: 'elsewhere', name: 'some-service', path: '/some-path' };
  const hook = (more: object = {}): WebhookEntry => ({
    name: 'some.example',
    failurePolicy: 'Fail',
    clientConfig: { service: { ...service, ...more } },
  });
  const registration = (entry: WebhookEntry, metadata: object = { name: 'old' }) => ({ metadata, webhooks: [entry] });

  const signs: readonly (readonly [sign: string, object: ReturnType<typeof registration>])[] = [
    ['that calls our Service', registration(hook(own))],
    ['with the path of our injector', registration(hook({ path: '/mutate-workloads-authbridge' }))],
    ['with the path of a validator', registration(hook({ path: '/validate-agent-rossoctl-dev-v1alpha1-agentcard' }))],
    [
      'by URL, with a path of ours',
      registration({ ...hook(), clientConfig: { url: 'https://10.0.0.1/mutate-workloads-authbridge' } }),
    ],
    ['with a webhook of our name', registration({ ...hook(), name: 'inject.rossoctl.io' })],
    [
      'with our label',
      registration(hook(), { name: 'old', labels: { 'app.kubernetes.io/name': 'rossoctl-operator' } }),
    ],
  ];
  for (const [sign, object] of signs) {
    test(`UP-01 ${sign} is left of another install`, () => {
      const { sentence = '' } = leftoverFault(kind, object, own) ?? {};
      assert.match(sentence, /MutatingWebhookConfiguration old is left of another install: its webhook \S+ calls /);
      assert.match(sentence, /refuses what it matches when that does not answer/);
      assert.match(sentence, /kubectl delete mutatingwebhookconfiguration old/);
      assert.equal(leftoverFault(kind, { ...object, metadata: { name: 'rossoctl-injector' } }, own), undefined);
    });
  }

  test('UP-01 that ignores failures is reported without the threat', () => {
    const { sentence = '' } = leftoverFault(kind, registration({ ...hook(own), failurePolicy: 'Ignore' }), own) ?? {};
    assert.match(sentence, /is asked beside this install/);
  });

  test('of somebody else is no fault', () => {
    const others = [
      registration(hook()),
      registration(hook({ name: own.name })),
      registration(hook({ namespace: own.namespace })),
      registration({ ...hook(), clientConfig: { url: 'https://10.0.0.1/other' } }),
    ];
    for (const other of others) assert.equal(leftoverFault(kind, other, own), undefined);
    assert.equal(leftoverFault(kind, { metadata: { name: 'empty' } }, own), undefined);
  });

  test('is kept without its certificates, and decided in the same way', () => {
    const entry = { ...hook(own), clientConfig: { caBundle: 'LS0t', service: { ...service, ...own } } };
    const kept = keptRegistration({ apiVersion: 'v1', kind, ...registration(entry) });
    assert.equal(JSON.stringify(kept).includes('LS0t'), false);
    assert.deepEqual(leftoverFault(kind, kept, own), leftoverFault(kind, registration(entry), own));
  });
});
