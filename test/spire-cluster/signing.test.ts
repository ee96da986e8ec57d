/** Cards signed with the X.509-SVIDs of a real SPIRE are verified by the bundle of its server, and by no other. */

import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readdirSync, rmdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { isRunning } from '../lab/process-identity.ts';
import { type Spire, startSpire } from '../lab/spire/spire.ts';
import type { X509Svid } from '../lab/spire/x509-svid.ts';
import { card, signedBy, verdict, word, workloadId } from './cards.ts';

const id = workloadId('cluster.local', 'team1', 'weather');

suite('signing', () => {
  let spire: Spire;
  let svid: X509Svid;
  before(async () => {
    spire = await startSpire({ name: 'signing' });
    await spire.createEntry(id);
    svid = await spire.fetchSvid(id);
  });
  after(() => spire.stop());

  const bundles = [
    ['PEM', () => spire.bundlePem()],
    ['a SPIFFE document', () => spire.bundleSpiffeJson()],
    ['what the Workload API gives', () => Promise.resolve(svid.bundle)],
  ] as const;
  for (const [form, bundle] of bundles) {
    test(`SG-05: a card signed with a real SVID is verified by the bundle as ${form}`, async () => {
      const verified = verdict(signedBy(svid), await bundle());
      assert.ok(verified.isValid, JSON.stringify(verified));
      const { isBound, spiffeId, keyId, algorithm, profile, expires, unsigned } = verified;
      assert.deepEqual(
        { isBound, spiffeId, keyId, algorithm, profile, expires, unsigned },
        {
          isBound: true,
          spiffeId: id,
          keyId: svid.leaf.fingerprint256.replaceAll(':', '').toLowerCase().slice(0, 16),
          algorithm: 'ES256',
          profile: 'jcs',
          expires: new Date(svid.leaf.validTo),
          unsigned: [],
        },
      );
      const { signatures, ...rest } = verified.card;
      assert.deepEqual(JSON.parse(JSON.stringify(rest)), card);
      assert.equal((signatures as readonly unknown[]).length, 1);
    });
  }

  test('SG-13: the verdict ends with the SVID, to the second', async () => {
    const served = signedBy(svid);
    const bundle = await spire.bundlePem();
    const ends = new Date(svid.leaf.validTo);
    assert.equal(word(verdict(served, bundle, { now: ends })), 'Bound');
    assert.equal(word(verdict(served, bundle, { now: new Date(ends.getTime() + 1000) })), 'expired');
    const begins = new Date(svid.leaf.validFrom);
    assert.equal(word(verdict(served, bundle, { now: begins })), 'Bound');
    assert.equal(word(verdict(served, bundle, { now: new Date(begins.getTime() - 1000) })), 'not-yet-valid');
  });

  test('a card is bound to the workload that signed it, and to no other of its trust domain', async () => {
    const served = signedBy(svid);
    const bundle = await spire.bundlePem();
    const of = (namespace: string, serviceAccount: string) =>
      word(verdict(served, bundle, { workload: { namespace, serviceAccount } }));
    assert.equal(of('team1', 'weather'), 'Bound');
    assert.equal(of('team1', 'billing'), 'WorkloadMismatch');
    assert.equal(of('team2', 'weather'), 'WorkloadMismatch');
  });

  test('two workloads of one user have each an SVID of its own', async () => {
    const other = workloadId('cluster.local', 'team2', 'billing');
    await spire.createEntry(other);
    const billing = await spire.fetchSvid(other);
    const verified = verdict(signedBy(billing), await spire.bundlePem());
    assert.equal(verified.isValid && verified.spiffeId, other);
    assert.equal((await spire.fetchSvid(id)).spiffeId, id);
  });

  test('another word in a signed card is noticed', async () => {
    const served = signedBy(svid).toString().replace('Tells the weather', 'Sells the weather');
    assert.equal(word(verdict(Buffer.from(served), await spire.bundlePem())), 'payload-mismatch');
  });

  test('a card signed in another trust domain is refused, by its root and by its name', async (t) => {
    const foreign = await startSpire({ name: 'foreign', trustDomain: 'other.example' });
    t.after(() => foreign.stop());
    const foreignId = workloadId('other.example', 'team1', 'weather');
    await foreign.createEntry(foreignId);
    const served = signedBy(await foreign.fetchSvid(foreignId));
    const [own, others] = [await spire.bundlePem(), await foreign.bundlePem()];
    assert.equal(word(verdict(served, own)), 'untrusted-chain');
    // A bundle that holds the foreign root too, as after federation: valid, and bound to nobody here.
    const mixed = verdict(served, own + others);
    assert.deepEqual(
      [mixed.isValid, mixed.isValid && mixed.isBound, word(mixed)],
      [true, false, 'TrustDomainMismatch'],
    );
    // The card keeps the foreign signature and gets one of this trust domain: that one counts.
    const both = signedBy(svid, JSON.parse(served.toString()));
    assert.equal(word(verdict(both, own + others)), 'Bound');
    assert.equal(word(verdict(both, own)), 'Bound');
  });
});

test('a SPIRE that stops leaves no process and no file', async () => {
  const spire = await startSpire({ name: 'stopping' });
  const processes = spire.processes();
  assert.deepEqual(
    processes.map(({ component }) => component),
    ['spire-server', 'spire-agent'],
  );
  assert.ok(processes.every(isRunning) && existsSync(spire.socketPath));
  await spire.stop();
  assert.deepEqual(processes.filter(isRunning), []);
  assert.equal(existsSync(spire.dir), false);
});

test('a SPIRE that cannot start says why and leaves nothing', async (t) => {
  const tmpDir = mkdtempSync(join(tmpdir(), 'spire-'));
  t.after(() => rmdirSync(tmpDir));
  await assert.rejects(
    startSpire({ name: 'broken', trustDomain: 'not a domain', tmpDir }),
    /spire-server ended.*trust.?domain/is,
  );
  assert.deepEqual(readdirSync(tmpDir), []);
});
