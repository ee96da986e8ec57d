import assert from 'node:assert/strict';
import { Buffer } from 'node:buffer';
import { describe, test } from 'node:test';
import { kinds } from '../../../runtime/api/kinds.ts';
import {
  certificatesIn,
  faultOf,
  isTrusted,
  makeAuthority,
  makeLeaf,
} from '../../../runtime/engine/certificate-authority.ts';
import { bundleOf, issuerIn } from '../../../runtime/engine/certificate-bundle.ts';
import { type RenewalPolicy, leafDue, withAuthority, withLeaf } from '../../../runtime/engine/certificate-renewal.ts';
import { holdingIn, isOurs, nothing, secretOf } from '../../../runtime/engine/certificate-secret.ts';
import {
  type WebhookConfigurationObject,
  bundleOperations,
  configurationFault,
} from '../../../runtime/engine/webhook-configuration.ts';
import { testAuthority, validity } from './admission-fixtures.ts';

const day = 86_400_000;
const policy: RenewalPolicy = {
  commonName: 'system/certificate',
  dnsNames: ['hook.system.svc', 'hook.system.svc.cluster.local'],
  ipAddresses: ['127.0.0.1'],
  authorityMs: 365 * day,
  leafMs: 90 * day,
};
const start = new Date('2026-01-01T00:00:00Z');
const after = (days: number): Date => new Date(start.getTime() + days * day);

test('an authority and its leaf fit each other, names and time', async () => {
  const holding = await withLeaf(await withAuthority(nothing, policy, start), policy, start);
  const { leaf = { certificate: '', key: '' }, bundle } = holding;
  assert.equal(faultOf(leaf), undefined);
  assert.ok(isTrusted(leaf.certificate, bundle, start));
  assert.ok(!isTrusted(leaf.certificate, bundle, after(91)), 'not when it has expired');
  assert.ok(!isTrusted(leaf.certificate, (await makeAuthority('other', validity())).certificate, start));
  const [certificate] = certificatesIn(leaf.certificate);
  assert.ok(certificate !== undefined);
  assert.ok(certificate.checkHost('hook.system.svc'));
  assert.equal(certificate.checkHost('evil.system.svc'), undefined);
  assert.ok(certificate.checkIP('127.0.0.1'));
  assert.equal(certificate.ca, false);
});

test('a leaf never outlives its authority', async () => {
  const authority = await makeAuthority('a', { notBefore: start, notAfter: after(10) });
  const leaf = await makeLeaf({ authority, dnsNames: ['x'], notBefore: start, notAfter: after(90) });
  assert.deepEqual(certificatesIn(leaf.certificate)[0]?.validToDate, after(10));
});

test('renewal at two thirds: the leaf alone, then the authority beside the old one, then a leaf of it', async () => {
  const first = await withLeaf(await withAuthority(nothing, policy, start), policy, start);
  assert.equal(leafDue(first, policy, after(59)), undefined);
  assert.equal(leafDue(first, policy, after(61)), 'it expires');
  const unchanged = await withAuthority(first, policy, after(240));
  assert.equal(unchanged.authority, first.authority);
  assert.equal(unchanged.bundle, first.bundle);

  const renewed = await withAuthority(first, policy, after(244));
  assert.notEqual(renewed.authority?.certificate, first.authority?.certificate);
  assert.equal(renewed.leaf, first.leaf, 'the leaf stays until the new authority is published');
  assert.equal(certificatesIn(renewed.bundle).length, 2);
  assert.equal(
    certificatesIn(renewed.bundle)[0]?.toString(),
    certificatesIn(renewed.authority?.certificate ?? '')[0]?.toString(),
  );
  const current = await withLeaf(first, policy, after(200));
  assert.equal(leafDue({ ...renewed, leaf: current.leaf }, policy, after(244)), 'its authority is replaced');

  const later = await withAuthority(renewed, policy, after(366));
  assert.equal(certificatesIn(later.bundle).length, 1, 'an expired authority leaves the bundle');
});

test('a leaf for other names or addresses is due', async () => {
  const holding = await withLeaf(await withAuthority(nothing, policy, start), policy, start);
  assert.equal(leafDue(holding, { ...policy, dnsNames: ['other.svc'] }, start), 'it is for other names');
  assert.equal(leafDue(holding, { ...policy, ipAddresses: ['10.0.0.1'] }, start), 'it is for other addresses');
  assert.equal(leafDue(nothing, policy, start), 'there is none');
});

test('a bundle is the same whatever the order and repetition, bounded, and only of our name', async () => {
  const ours = await Promise.all(
    [1, 2, 3, 4, 5, 6, 7].map((n) => makeAuthority('us', { notBefore: after(n), notAfter: after(99) })),
  );
  const other = await makeAuthority('them', { notBefore: start, notAfter: after(99) });
  const expired = await makeAuthority('us', { notBefore: start, notAfter: after(5) });
  const texts = [...ours, other, expired].map(({ certificate }) => certificate);
  const rules = { commonName: 'us', now: after(20) };
  const bundle = bundleOf(texts, rules);
  assert.equal(bundleOf(texts.toReversed(), rules), bundle);
  assert.equal(bundleOf([bundle, bundle, ...texts], rules), bundle);
  assert.equal(certificatesIn(bundle).length, 5);
  assert.equal(
    issuerIn(bundle, ours[6]?.certificate ?? ''),
    certificatesIn(ours[6]?.certificate ?? '')[0]?.fingerprint256,
  );
  assert.equal(bundleOf(['nonsense', '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----'], rules), '');
});

describe('the Secret', () => {
  const names = { key: { namespace: 'system', name: 'certificate' }, labels: { owner: 'us' } };
  const made = async () => withLeaf(await withAuthority(nothing, policy, start), policy, start);

  test('what is written is what is read', async () => {
    const holding = await made();
    const secret = secretOf(holding, names);
    assert.deepEqual(holdingIn(secret), {
      holding: {
        ...holding,
        authority: { ...holding.authority, certificate: certificatesIn(holding.bundle)[0]?.toString() },
      },
      faults: [],
    });
    assert.ok(isOurs(secret, names.labels));
  });

  const damage: readonly (readonly [string, Record<string, string>, readonly string[]])[] = [
    ['no key', { 'tls.key': '' }, ['tls']],
    ['a key of another certificate', { 'tls.key': '<other>' }, ['tls']],
    ['nonsense in the certificate', { 'tls.crt': 'bm9uc2Vuc2U=' }, ['tls']],
    ['no authority', { 'ca.crt': '' }, ['ca', 'tls']],
    ['an authority without its key', { 'ca.key': '' }, ['ca']],
    ['a leaf of another authority', { 'tls.crt': '<other>', 'tls.key': '<other>' }, ['tls']],
  ];
  for (const [name, change, faulty] of damage) {
    test(`damaged: ${name}`, async () => {
      const other = await (await testAuthority()).leaf();
      const replace = (key: string, value: string): string =>
        value === '<other>' ? Buffer.from(key === 'tls.crt' ? other.certificate : other.key).toString('base64') : value;
      const secret = secretOf(await made(), names);
      const data = {
        ...secret.data,
        ...Object.fromEntries(Object.entries(change).map(([k, v]) => [k, replace(k, v)])),
      };
      const { holding, faults } = holdingIn({ ...secret, data });
      assert.deepEqual(
        faults.map((fault) => fault.slice(0, fault.indexOf('.'))),
        faulty,
      );
      assert.equal(holding.leaf === undefined, faulty.includes('tls'));
      assert.equal(holding.authority === undefined, faulty.includes('ca'));
      const mended = await withAuthority(holding, policy, start);
      assert.ok(mended.authority);
    });
  }

  test('somebody else’s is told by its data without our label; an empty one may be taken', async () => {
    const secret = secretOf(await made(), names);
    assert.equal(isOurs({ ...secret, metadata: { ...secret.metadata, labels: {} } }, names.labels), false);
    assert.equal(isOurs({ ...secret, metadata: {}, data: {} }, names.labels), true);
  });
});

describe('AD-05 the configuration is checked', () => {
  const ref = { kind: kinds.mutatingWebhookConfiguration, name: 'rossoctl' };
  const endpoint = { service: { namespace: 'rossoctl-system', name: 'rossoctl-webhook' } };
  const configuration = (clientConfig: object): WebhookConfigurationObject => ({
    apiVersion: ref.kind.apiVersion,
    kind: ref.kind.kind,
    metadata: { name: 'rossoctl', resourceVersion: '7' },
    webhooks: [{ name: 'inject.rossoctl.io', clientConfig }],
  });
  const good = { caBundle: 'AAAA', service: endpoint.service };
  const table: readonly (readonly [string, WebhookConfigurationObject | undefined, RegExp | undefined])[] = [
    ['good', configuration(good), undefined],
    ['absent', undefined, /^MutatingWebhookConfiguration rossoctl does not exist/],
    ['without webhooks', { ...configuration(good), webhooks: [] }, /has no webhooks/],
    [
      'with an empty caBundle',
      configuration({ ...good, caBundle: '' }),
      /webhook inject.rossoctl.io of .* has an empty caBundle/,
    ],
    ['without caBundle', configuration({ service: endpoint.service }), /has an empty caBundle/],
    [
      'of another Service',
      configuration({ ...good, service: { namespace: 'rossoctl-system', name: 'x' } }),
      /calls Service rossoctl-system\/x instead/,
    ],
    [
      'of another namespace',
      configuration({ ...good, service: { namespace: 'y', name: 'rossoctl-webhook' } }),
      /calls Service y\/rossoctl-webhook instead/,
    ],
    ['with a URL', configuration({ caBundle: 'AAAA', url: 'https://x' }), /calls https:\/\/x instead/],
  ];
  for (const [name, object, sentence] of table) {
    test(name, () => {
      const fault = configurationFault(ref, object, endpoint);
      if (sentence === undefined) assert.equal(fault, undefined);
      else assert.match(fault ?? '', sentence);
    });
  }

  test('the patch touches nothing but caBundle, on the version read, and only where it differs', () => {
    const value = Buffer.from('bundle').toString('base64');
    assert.deepEqual(bundleOperations(configuration({ ...good, caBundle: value }), 'bundle'), []);
    assert.deepEqual(bundleOperations(configuration(good), 'bundle'), [
      { op: 'test', path: '/metadata/resourceVersion', value: '7' },
      { op: 'test', path: '/webhooks/0/name', value: 'inject.rossoctl.io' },
      { op: 'add', path: '/webhooks/0/clientConfig/caBundle', value },
    ]);
  });
});
