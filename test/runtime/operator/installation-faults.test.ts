/** What of an install does not fit the operator: each sign on its own, and what is no sign. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { crdManifest, crdSources } from '../../../runtime/api/crds.ts';
import type { WebhookEntry } from '../../../runtime/api/kubernetes.ts';
import {
  crdFault,
  keptRegistration,
  leftoverFault,
  type OwnInstall,
} from '../../../runtime/operator/installation-faults.ts';

describe('a definition', () => {
  const [known] = crdSources.map(crdManifest);
  assert.ok(known !== undefined);
  const spec = { ...known.spec, versions: [] };

  test('as it was built is no fault, and neither is one that has more', () => {
    assert.equal(crdFault(known, known), undefined);
    const versions = [...(known.spec['versions'] as readonly object[]), { name: 'v1', served: true }];
    assert.equal(crdFault(known, { spec: { ...known.spec, versions } }), undefined);
  });

  test('UP-03 whose pattern a newer release has relaxed is not called older', () => {
    const relaxed = JSON.parse(
      JSON.stringify(known.spec).replace(/"pattern":"[^"]+"/, '"pattern":".*"'),
    ) as typeof spec;
    assert.notDeepEqual(relaxed, known.spec);
    assert.equal(crdFault(known, { spec: relaxed }), undefined);
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
  const us: OwnInstall = { service: own, instance: '', namespaces: [] };
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
      const { sentence = '' } = leftoverFault(kind, object, us) ?? {};
      assert.match(sentence, /MutatingWebhookConfiguration old is left of another install: its webhook \S+ calls /);
      assert.match(sentence, /refuses what it matches when that does not answer/);
      assert.match(sentence, /kubectl delete mutatingwebhookconfiguration old/);
      assert.equal(leftoverFault(kind, { ...object, metadata: { name: 'rossoctl-injector' } }, us), undefined);
    });
  }

  test('UP-01 that ignores failures is reported without the threat', () => {
    const { sentence = '' } = leftoverFault(kind, registration({ ...hook(own), failurePolicy: 'Ignore' }), us) ?? {};
    assert.match(sentence, /is asked beside this install/);
  });

  test('of somebody else is no fault', () => {
    const others = [
      registration(hook()),
      registration(hook({ name: own.name })),
      registration(hook({ namespace: own.namespace })),
      registration({ ...hook(), clientConfig: { url: 'https://10.0.0.1/other' } }),
    ];
    for (const other of others) assert.equal(leftoverFault(kind, other, us), undefined);
    assert.equal(leftoverFault(kind, { metadata: { name: 'empty' } }, us), undefined);
  });

  test('is kept without its certificates, and decided in the same way', () => {
    const entry = { ...hook(own), clientConfig: { caBundle: 'LS0t', service: { ...service, ...own } } };
    const kept = keptRegistration({ apiVersion: 'v1', kind, ...registration(entry) });
    assert.equal(JSON.stringify(kept).includes('LS0t'), false);
    assert.deepEqual(leftoverFault(kind, kept, us), leftoverFault(kind, registration(entry), us));
  });

  describe('beside an install of several', () => {
    const blue: OwnInstall = { service: own, instance: 'blue', namespaces: ['team1', 'team2'] };
    const asked = (operator: string, values: readonly string[], more: object = {}) =>
      registration({
        ...hook({ path: '/mutate-workloads-authbridge', ...more }),
        namespaceSelector: { matchExpressions: [{ key: 'kubernetes.io/metadata.name', operator, values }] },
      } as WebhookEntry);

    test('that is asked about other namespaces is of another install that is alive', () => {
      assert.equal(leftoverFault(kind, asked('In', ['team3']), blue), undefined);
      assert.equal(leftoverFault(kind, asked('NotIn', ['team1', 'team2']), blue), undefined);
      const labelled = {
        ...asked('In', ['team3']),
        metadata: { labels: { 'app.kubernetes.io/name': 'rossoctl-operator' } },
      };
      assert.equal(leftoverFault(kind, labelled, blue), undefined);
      const own = { ...asked('In', ['team1']), metadata: { name: 'rossoctl-injector-blue' } };
      assert.equal(leftoverFault(kind, own, blue), undefined);
    });

    test('that is asked about a namespace of ours is told with that namespace, and what to do where it is in use', () => {
      for (const object of [asked('In', ['team2', 'team3']), asked('NotIn', ['team1'])]) {
        const { sentence = '' } = leftoverFault(kind, object, blue) ?? {};
        assert.match(sentence, /delete it .*, or where that install is in use let only one of the two watch team2$/);
      }
      const plain = { ...asked('In', ['team1']), metadata: { name: 'rossoctl-injector' } };
      assert.match(leftoverFault(kind, plain, blue)?.sentence ?? '', /rossoctl-injector is left of another install/);
    });

    test('that calls our Service is left over whatever it is asked about', () => {
      const { sentence = '' } = leftoverFault(kind, asked('In', ['team3'], own), blue) ?? {};
      assert.match(sentence, /delete it \(kubectl delete mutatingwebhookconfiguration old\)$/);
    });

    test('is no install of its own to an operator that watches every namespace', () => {
      assert.match(
        leftoverFault(kind, asked('In', ['team3']), us)?.sentence ?? '',
        /is left of another install.*old\)$/,
      );
      // Another tool's label of an application's name says nothing.
      const labels = { 'app.kubernetes.io/instance': 'some-application' };
      const red = { ...asked('In', ['team3']), metadata: { name: 'rossoctl-injector-red', labels } };
      assert.match(
        leftoverFault(kind, red, us)?.sentence ?? '',
        /delete it .*, or where the install red is in use make this one namespaced/,
      );
    });
  });
});
