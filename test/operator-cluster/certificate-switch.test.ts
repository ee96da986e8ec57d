/** The order of docs/install.md by which the webhooks' certificate changes hands: to somebody else, as cert-manager is, and back to the operator. */

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { after, before, test } from 'node:test';
import { kinds } from '../../runtime/api/kinds.ts';
import { install } from '../../runtime/api/names.ts';
import { makeAuthority, makeLeaf } from '../../runtime/engine/certificate-authority.ts';
import { isNotFound } from '../../runtime/engine/errors.ts';
import type { KubeObject } from '../../runtime/engine/types.ts';
import { eventually } from '../support/engine-bed.ts';
import { type OperatorBed, startOperatorBed, untilReady } from '../support/operator-bed.ts';
import { applyAll, kindOf, platformObjects } from '../support/operator-platform.ts';

let bed: OperatorBed;
before(async () => {
  bed = await startOperatorBed('certificate-switch');
});
after(() => bed.stop());

const secret = { namespace: install.namespace, name: install.certificateSecret };
const validity = { notBefore: new Date(Date.now() - 60_000), notAfter: new Date(Date.now() + 3_600_000) };

/** The folder `30-rbac` of an install. */
async function applyRights(certificates: 'self-managed' | 'cert-manager'): Promise<void> {
  const rights = platformObjects({ certificates }, bed.service.port).filter(({ kind }) => kind.includes('Role'));
  await applyAll(bed.client, rights);
}

/** What cert-manager does: a Secret, mounted as files, and its authority in both registrations. */
async function certify(): Promise<void> {
  const authority = await makeAuthority('test', validity);
  const dnsNames = [`${install.webhookService}.${install.namespace}.svc`];
  const { certificate, key } = await makeLeaf({ ...validity, authority, dnsNames });
  const base64 = (text: string) => Buffer.from(text).toString('base64');
  await bed.client.create(kinds.secret, {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: secret,
    data: { 'tls.crt': base64(certificate), 'tls.key': base64(key), 'ca.crt': base64(authority.certificate) },
  } as KubeObject);
  writeFileSync(path.join(bed.dir, 'tls.crt'), certificate);
  writeFileSync(path.join(bed.dir, 'tls.key'), key);
  const caBundle = base64(authority.certificate);
  for (const object of bed.objects.filter(({ kind }) => kind.endsWith('WebhookConfiguration'))) {
    const live = await bed.client.get(kindOf(object), { name: object.metadata.name ?? '' });
    const { webhooks } = live as KubeObject & { readonly webhooks: readonly { readonly clientConfig: object }[] };
    const trusting = webhooks.map((hook) => ({ ...hook, clientConfig: { ...hook.clientConfig, caBundle } }));
    await bed.client.replace(kindOf(object), { ...live, webhooks: trusting } as KubeObject);
  }
}

test('to somebody else: without the right the operator lets the Secret go and answers on; then the next one serves what it is handed', {
  timeout: 600_000,
}, async () => {
  const own = await bed.startReady('own');
  await applyRights('cert-manager');
  await bed.client.remove({ kind: kinds.secret, ...secret });
  await sleep(3000);
  await assert.rejects(bed.client.get(kinds.secret, secret), isNotFound);
  assert.equal((await own.readiness())?.ok, true, 'the one before still answers');

  await certify();
  const flags = { certificates: 'files', 'certificate-dir': bed.dir };
  const handed = await bed.startReady('handed', { flags });
  await own.stop();
  await handed.stop();
});

test('and back: a Secret that is not the operator’s is left alone until it is deleted', {
  timeout: 600_000,
}, async () => {
  await applyRights('self-managed');
  const own = await bed.start('own-again');
  await eventually(async () => {
    const said = JSON.stringify((await own.readiness())?.checks);
    assert.match(said, /rossoctl-webhook-certificate holds data but lacks the label/);
  });
  await bed.client.remove({ kind: kinds.secret, ...secret });
  await untilReady(own);
  const made = await bed.client.get(kinds.secret, secret);
  assert.equal(made.metadata.labels?.['app.kubernetes.io/managed-by'], 'rossoctl-operator');
  await own.stop();
});
