/** Which certificates the API server trusts, by what stands in the registrations. */

import assert from 'node:assert/strict';
import { Buffer } from 'node:buffer';
import test from 'node:test';
import { kinds } from '../../../runtime/api/kinds.ts';
import { publication } from '../../../runtime/engine/certificate-publication.ts';
import { createMetrics } from '../../../runtime/engine/metrics.ts';
import { fakeClock } from '../../support/fake-clock.ts';
import { captureLog, testAuthority } from './admission-fixtures.ts';

const service = { namespace: 'system', name: 'hook' };

async function trusting() {
  const clock = fakeClock();
  let caBundle = '';
  const published = publication({
    configurations: [{ kind: kinds.mutatingWebhookConfiguration, name: 'hooks' } as never],
    endpoint: { service } as never,
    reader: {
      get: async () => ({ webhooks: [{ name: 'a', clientConfig: { service, caBundle } }] }) as never,
    } as never,
    clock,
    metrics: createMetrics({ process: false }),
    log: captureLog() as never,
  });
  const look = async (pem: string): Promise<void> => {
    caBundle = Buffer.from(pem).toString('base64');
    await published.look('');
    await clock.advance(1_000);
  };
  return { look, trustedForMs: (chain: string) => published.trustedForMs(chain) };
}

test('a leaf is trusted by its authority, and by itself where it stands in the registration: a self-signed one has nothing else', async () => {
  const authority = await testAuthority();
  const [first, next] = [await authority.leaf(), await authority.leaf()];
  const { look, trustedForMs } = await trusting();
  await look(authority.authority.certificate);
  assert.equal(trustedForMs(first.certificate), 1_000);
  await look(first.certificate);
  assert.equal(trustedForMs(first.certificate), 1_000);
  assert.equal(trustedForMs(next.certificate), undefined);
  await look(next.certificate);
  assert.equal(trustedForMs(first.certificate), undefined);
  assert.equal(trustedForMs(next.certificate), 1_000);
});
