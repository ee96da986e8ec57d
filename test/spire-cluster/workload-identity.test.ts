/** The sidecar's identity beside a real SPIRE: how it arrives, is replaced, outlives its agent, and becomes tokens and files. */

import assert from 'node:assert/strict';
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { readFile, realpath } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, suite, test, type TestContext } from 'node:test';
import { createLocalJWKSet, jwtVerify, type JSONWebKeySet } from 'jose';
import { readJwtBundles, readX509Bundles } from '../../runtime/sidecar/spiffe/bundle.ts';
import { createWorkloadApi, type Take } from '../../runtime/sidecar/spiffe/client.ts';
import { type IdentityState, readyLine } from '../../runtime/sidecar/spiffe/identity.ts';
import { type Spire, startSpire } from '../lab/spire/spire.ts';
import { createAuthority } from '../support/svid.ts';
import { workloadId } from './cards.ts';
import {
  agentAway,
  createFederatedEntry,
  deleteEntry,
  eventually,
  heldSvid,
  keptIdentity,
  runningHelper,
  type Stopped,
} from './workload-identity-bed.ts';

const id = workloadId('cluster.local', 'team1', 'weather');
const faultOf = (state: IdentityState) => (state.kind === 'held' ? state.fault : undefined);

suite('identity', () => {
  let spire: Spire;
  let agent: Stopped | undefined;
  before(async () => {
    spire = await startSpire({ name: 'identity' });
  });
  after(async () => {
    await agent?.stop();
    await spire.stop();
  });

  test('without an entry it is a state with a reason, and it arrives when the entry is made', async (t) => {
    const { identity, metric, stop } = keptIdentity(spire);
    t.after(stop);
    const reason = 'the SPIRE agent knows no entry for this pod (namespace team1, service account weather)';
    await eventually(() => (readyLine(identity.state)?.includes(reason) === true ? true : undefined));
    assert.equal(await metric('rossoctl_sidecar_workload_api_connected'), 1);
    const partner = { domain: 'partner.example', pem: (await createAuthority('partner')).pem };
    await createFederatedEntry(spire, id, partner);
    const svid = await heldSvid(identity);
    assert.deepEqual([...svid.federated.keys()], [partner.domain]);
    assert.equal(svid.federated.get(partner.domain)?.pem.trim(), partner.pem.trim());
    assert.equal(svid.spiffeId, id);
    assert.equal(svid.bundle.pem.trim(), (await spire.bundlePem()).trim());
    assert.ok(new X509Certificate(svid.chainPem).checkPrivateKey(createPrivateKey(svid.keyPem)));
    assert.deepEqual([readyLine(identity.state), svid.warnings], [undefined, []]);
    const seconds = await metric('rossoctl_sidecar_svid_expiry_seconds');
    assert.ok(seconds > 3_000 && seconds <= 3_600, `${seconds}`);
  });

  test('an SVID of another trust domain than the platform has is refused with both names', async (t) => {
    const { identity, metric, stop } = keptIdentity({ ...spire, trustDomain: 'other.example' });
    t.after(stop);
    const line = await eventually(() => /trust domain.*/.exec(readyLine(identity.state) ?? '')?.[0]);
    assert.match(line, /trust domain cluster\.local, and the platform's is other\.example/);
    assert.equal(await metric('rossoctl_sidecar_svid_updates_total{outcome="trust-domain-mismatch"}'), 1);
    const token = await identity.jwt('keycloak');
    assert.ok('unavailable' in token);
  });

  test('a JWT-SVID is for its audience, verifies by the bundle of JWT keys, and is kept', async (t) => {
    const { identity, stop } = keptIdentity(spire);
    t.after(stop);
    await heldSvid(identity);
    const [one, same, other] = await Promise.all([
      identity.jwt('keycloak'),
      identity.jwt('keycloak'),
      identity.jwt('a', 'b'),
    ]);
    assert.ok('token' in one && 'token' in same && 'token' in other);
    assert.equal(one.token, same.token);
    const bundle = readJwtBundles(await firstMessage((take, signal) => createdApi(t, spire).jwtBundles(take, signal)));
    const keys = createLocalJWKSet(bundle?.value.get('cluster.local') as unknown as JSONWebKeySet);
    const { payload } = await jwtVerify(one.token, keys, { audience: 'keycloak', subject: id });
    assert.equal(one.expires, Number(payload.exp) * 1000);
    assert.deepEqual((await jwtVerify(other.token, keys)).payload.aud, ['a', 'b']);
    const again = await identity.jwt('keycloak');
    assert.equal('token' in again && again.token, one.token);
  });

  test('the roots alone are to be had too', async (t) => {
    const bundle = readX509Bundles(
      await firstMessage((take, signal) => createdApi(t, spire).x509Bundles(take, signal)),
    );
    assert.equal(bundle?.value.get('cluster.local')?.pem.trim(), (await spire.bundlePem()).trim());
  });

  test('a root that is added is in the bundle that is held, without a new key', async (t) => {
    const { identity, stop } = keptIdentity(spire);
    t.after(stop);
    const first = await heldSvid(identity);
    await spire.authorities.prepare();
    const next = await heldSvid(identity, ({ bundle }) => bundle.certificates.length === 2);
    assert.equal(next.keyPem, first.keyPem);
  });

  test('while the agent is away the SVID stays, health says why, and the next agent is found by itself', async (t) => {
    const { identity, metric, stop } = keptIdentity(spire);
    t.after(stop);
    const held = await heldSvid(identity);
    const comeBack = await agentAway(spire);
    const fault = await eventually(() => faultOf(identity.state));
    assert.match(fault, /^the SPIRE agent /);
    assert.equal(identity.state.kind === 'held' && identity.state.svid, held);
    assert.equal(await metric('rossoctl_sidecar_workload_api_connected'), 0);
    agent = await comeBack();
    const next = await heldSvid(identity, (svid) => svid !== held);
    assert.equal(next.spiffeId, id);
    assert.equal(faultOf(identity.state), undefined);
  });

  test('an entry that is taken away leaves the SVID until its end, and health says what is missing', async (t) => {
    const { identity, stop } = keptIdentity(spire);
    t.after(stop);
    const held = await heldSvid(identity);
    await deleteEntry(spire, id);
    assert.match(await eventually(() => faultOf(identity.state)), /^the SPIRE agent knows no entry for this pod/);
    assert.equal(identity.state.kind === 'held' && identity.state.svid.spiffeId, held.spiffeId);
  });
});

test('SVIDs are replaced in time, and a reader of the files never sees the key of one and the certificate of another', async (t) => {
  const spire = await startSpire({ name: 'identity-files', svidTtl: '12s' });
  t.after(() => spire.stop());
  const directory = mkdtempSync(join(tmpdir(), 'svid-'));
  t.after(() => rmSync(directory, { recursive: true }));
  const { isReady, reason, stop } = runningHelper(spire, directory);
  t.after(stop);
  await eventually(() => (/knows no entry/.test(reason() ?? '') ? true : undefined), reason);
  assert.deepEqual(readdirSync(directory), []);
  await spire.createEntry(id);
  await eventually(() => (isReady() ? true : undefined), reason);

  const serials = new Set<string>();
  const deadline = performance.now() + 60_000;
  let reads = 0;
  while (serials.size < 4 && performance.now() < deadline) {
    const version = await realpath(join(directory, '..data'));
    const leaf = new X509Certificate(await readFile(join(version, 'svid.pem')));
    assert.ok(leaf.checkPrivateKey(createPrivateKey(await readFile(join(version, 'svid_key.pem')))));
    assert.ok(Date.now() < Date.parse(leaf.validTo), 'a reader found an SVID that had ended');
    assert.match(await readFile(join(version, 'jwt_svid.token'), 'utf8'), /^eyJ[\w-]+\.[\w-]+\.[\w-]+$/);
    assert.ok(isReady(), reason() ?? '');
    serials.add(leaf.serialNumber);
    reads += 1;
  }
  assert.equal(serials.size, 4);
  assert.ok(reads > 20);

  await agentAway(spire);
  const ended = await eventually<string>(() => (isReady() ? undefined : reason()));
  assert.match(
    ended,
    /^the SPIFFE identity spiffe:\/\/cluster\.local\/ns\/team1\/sa\/weather ended at .*: the SPIRE agent /,
  );
  await eventually(() => (readdirSync(directory).length === 0 ? true : undefined));
});

function createdApi(t: TestContext, { socketPath }: Spire) {
  const api = createWorkloadApi(socketPath);
  t.after(() => api.close());
  return api;
}

async function firstMessage(follow: (take: Take, signal: AbortSignal) => Promise<unknown>): Promise<Uint8Array> {
  const ending = new AbortController();
  let first: Uint8Array | undefined;
  await follow((bytes) => {
    first ??= Uint8Array.from(bytes);
    ending.abort();
  }, ending.signal);
  return first ?? assert.fail('the stream ended without a message');
}
