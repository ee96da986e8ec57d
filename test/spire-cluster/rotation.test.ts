/** What a real SPIRE does to signatures as time goes on: SVIDs are replaced, roots are added, changed and taken away. */

import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { parseTrustBundle } from '../../runtime/signature/trust-bundle.ts';
import type { SpireOptions } from '../lab/spire/spire-files.ts';
import { startSpire } from '../lab/spire/spire.ts';
import type { X509Svid } from '../lab/spire/x509-svid.ts';
import { signedBy, verdict, word, workloadId } from './cards.ts';

const id = workloadId('cluster.local', 'team1', 'weather');

async function started(t: TestContext, options: SpireOptions) {
  const spire = await startSpire({ name: 'rotation', ...options });
  t.after(() => spire.stop());
  await spire.createEntry(id);
  return { spire, first: await spire.fetchSvid(id) };
}

const otherThan = (svid: X509Svid) => (next: X509Svid) => next.leaf.serialNumber !== svid.leaf.serialNumber;
const endOf = ({ leaf }: X509Svid): Date => new Date(leaf.validTo);
const later = (date: Date): Date => new Date(date.getTime() + 1000);

test('SG-13: a replaced SVID is good until its end; the card signed again with the next is good beyond', async (t) => {
  const { spire, first } = await started(t, { svidTtl: '20s' });
  const old = signedBy(first);
  const second = await spire.fetchSvid(id, otherThan(first));
  assert.ok(endOf(second) > endOf(first));
  const bundle = await spire.bundlePem();
  assert.equal(word(verdict(old, bundle, { now: endOf(first) })), 'Bound');
  assert.equal(word(verdict(old, bundle, { now: later(endOf(first)) })), 'expired');
  const again = signedBy(second);
  const verified = verdict(again, bundle, { now: later(endOf(first)) });
  assert.ok(verified.isValid && verified.isBound, word(verified));
  assert.deepEqual(verified.expires, endOf(second));
  // Both signatures in one card, as while an agent's replicas are replaced: the one that lives decides.
  const both = signedBy(second, JSON.parse(old.toString()));
  assert.equal(word(verdict(both, bundle, { now: later(endOf(first)) })), 'Bound');
});

test('SG-10: both roots are trusted while they change; with the old one gone its cards are untrusted', async (t) => {
  const { spire, first } = await started(t, {});
  const { authorities } = spire;
  const old = signedBy(first);
  const { active: oldRoot } = await authorities.show();
  const before = await spire.bundleSpiffeJson();

  const newRoot = await authorities.prepare();
  const during = await spire.bundleSpiffeJson();
  assert.deepEqual(
    [before, during].map((text) => parseTrustBundle(text).anchors.length),
    [1, 2],
  );
  assert.notEqual(parseTrustBundle(before).hash, parseTrustBundle(during).hash);
  assert.equal(word(verdict(old, during)), 'Bound');

  await authorities.activate(newRoot);
  assert.deepEqual(await authorities.show(), { active: newRoot, prepared: undefined, old: oldRoot });
  await authorities.taint(oldRoot);
  const second = await spire.fetchSvid(id, otherThan(first));
  const again = signedBy(second);
  assert.equal(word(verdict(again, during)), 'Bound');
  assert.equal(word(verdict(again, before)), 'untrusted-chain');
  // Tainted is SPIRE's word to its own agents; whoever reads the bundle trusts the root until it is gone.
  assert.equal(word(verdict(old, await spire.bundlePem())), 'Bound');

  await authorities.revoke(oldRoot);
  for (const bundle of [await spire.bundlePem(), await spire.bundleSpiffeJson()]) {
    assert.equal(parseTrustBundle(bundle).anchors.length, 1);
    assert.equal(word(verdict(old, bundle)), 'untrusted-chain');
    assert.equal(word(verdict(again, bundle)), 'Bound');
  }
});
