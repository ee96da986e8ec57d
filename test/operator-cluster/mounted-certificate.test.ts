/** RB-02 An operator that is handed its certificate works with the rights of such an install: no Secret, no write to a registration. */

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { kinds } from '../../runtime/api/kinds.ts';
import { install } from '../../runtime/api/names.ts';
import { makeAuthority, makeLeaf } from '../../runtime/engine/certificate-authority.ts';
import type { KubeObject } from '../../runtime/engine/types.ts';
import { textOf } from '../support/audit-log.ts';
import { untilDeleted, untilSays } from '../support/enrolments.ts';
import { type OperatorBed, startOperatorBed, untilLeading } from '../support/operator-bed.ts';
import { kindOf } from '../support/operator-platform.ts';
import { createNamespace, runtimeFor, workload } from '../support/workload-objects.ts';
import { grantsIn, isUsedBy } from './grants.ts';

let bed: OperatorBed;
before(async () => {
  const platform = { certificates: 'cert-manager' } as const;
  bed = await startOperatorBed('mounted', { platform, without: ['Issuer', 'Certificate'] });
});
after(() => bed.stop());

const validity = { notBefore: new Date(Date.now() - 60_000), notAfter: new Date(Date.now() + 3_600_000) };

/** What cert-manager does: the files as they are mounted, and the authority in both registrations. */
async function certify(): Promise<void> {
  const authority = await makeAuthority('test', validity);
  const dnsNames = [`${install.webhookService}.${install.namespace}.svc`];
  const { certificate, key } = await makeLeaf({ ...validity, authority, dnsNames });
  writeFileSync(path.join(bed.dir, 'tls.crt'), certificate);
  writeFileSync(path.join(bed.dir, 'tls.key'), key);
  const caBundle = Buffer.from(authority.certificate).toString('base64');
  for (const object of bed.objects.filter(({ kind }) => kind.endsWith('WebhookConfiguration'))) {
    const live = await bed.client.get(kindOf(object), { name: object.metadata.name ?? '' });
    const { webhooks } = live as KubeObject & { readonly webhooks: readonly { readonly clientConfig: object }[] };
    const trusting = webhooks.map((hook) => ({ ...hook, clientConfig: { ...hook.clientConfig, caBundle } }));
    await bed.client.replace(kindOf(object), { ...live, webhooks: trusting } as KubeObject);
  }
}

test('RB-02 it enrols a workload, and nothing it tries is forbidden or granted by anything else', {
  timeout: 600_000,
}, async () => {
  await certify();
  const flags = { certificates: 'files', 'certificate-dir': bed.dir };
  const operator = await bed.startReady('mounted', { flags });
  await untilLeading(operator);
  const ns = await createNamespace(bed.client, 'mounted');
  const deployment = workload('Deployment', ns, 'weather');
  await bed.client.create(kindOf(deployment), deployment);
  const runtime = runtimeFor(deployment);
  await bed.client.create(kinds.agentRuntime, runtime);
  await untilSays(bed.client, runtime, 'Active/Configured');
  await untilDeleted(bed.client, runtime);
  await operator.stop();

  const used = bed.audit.requests();
  const refused = used.filter(({ responseStatus }) => responseStatus?.code === 401 || responseStatus?.code === 403);
  assert.deepEqual(refused.map(textOf), []);
  const grants = grantsIn(bed.objects);
  const ungranted = used.filter(
    (request) => request.objectRef !== undefined && !grants.some((grant) => isUsedBy(grant, request)),
  );
  assert.deepEqual(ungranted.map(textOf), []);
  const forbidden = ['secrets', 'patch admissionregistration'];
  assert.deepEqual(
    grants.filter(({ verb, resource }) => forbidden.some((word) => `${verb} ${resource}`.includes(word))),
    [],
  );
});
