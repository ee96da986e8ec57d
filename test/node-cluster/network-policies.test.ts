/** The policies as a real network enforces them: who reaches whom while agents are verified, are not, and become so again. */

import assert from 'node:assert/strict';
import { after, before, describe, test, type TestContext } from 'node:test';
import { kinds } from '../../runtime/api/kinds.ts';
import { install } from '../../runtime/api/names.ts';
import { canRunNode } from '../lab/up.ts';
import { eventually } from '../support/engine-bed.ts';
import { type EnforcementBed, type Place, startEnforcementBed } from './enforcement-bed.ts';

const skip = !canRunNode() && 'a node needs root on Linux';
const alpha = 'team1/alpha';
const beta = 'team2/beta';
const gamma = 'team1/gamma';
const delta = 'team1/delta';
const plain = 'team1/plain';
const operator: Place = `${install.namespace}/operator`;
const keycloak: Place = `${install.namespace}/keycloak`;
const impostor = 'team2/impostor';

/** DNS over TCP: the length, then a query for the API server's address. */
const query = (() => {
  const name = ['kubernetes', 'default', 'svc', 'cluster', 'local'];
  const question = [...name.flatMap((label) => [label.length, ...Buffer.from(label)]), 0, 0, 1, 0, 1];
  const message = [0x12, 0x34, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, ...question];
  const bytes = [0, message.length, ...message];
  return bytes.map((byte) => `\\${byte.toString(8).padStart(3, '0')}`).join('');
})();

describe('network policies on a node', { skip, timeout: 600_000 }, () => {
  let bed: EnforcementBed;
  before(async () => {
    bed = await startEnforcementBed();
  });
  after(() => bed.stop());

  /** Who reaches whom, at once and in this state; each denied call takes its two seconds, so they are made together. */
  async function assertReach(rows: readonly (readonly [from: Place, to: Place, isReached: boolean])[]): Promise<void> {
    const found = await Promise.all(rows.map(async ([from, to]) => [from, to, await bed.calls(from, to)] as const));
    assert.deepEqual(found, rows);
  }

  const until = (from: Place, to: Place, isReached: boolean) =>
    eventually(async () => assert.equal(await bed.calls(from, to), isReached, `${from} → ${to}`));

  /** Repeated in the pod itself, so that the time is the network's and not that of starting each call from here. */
  async function measure(t: TestContext, what: string, isVerified: boolean): Promise<void> {
    const call = `timeout 1 wget -qO- http://${await bed.addressOf(gamma)}:8080/ > /dev/null`;
    const loop = `${isVerified ? 'until' : 'while'} ${call}; do :; done`;
    const begun = performance.now();
    const waiting = bed.exec(alpha, loop);
    await bed.judge(gamma, isVerified);
    await waiting;
    t.diagnostic(`${what}: ${Math.round(performance.now() - begun)} ms, a denied call counted as one second`);
  }

  test('agents without a verdict are closed on both sides, and the operator reaches them', async () => {
    await until(plain, alpha, false);
    await until(plain, beta, false);
    await until(plain, gamma, false);
    await assertReach([
      [alpha, beta, false],
      [alpha, plain, false],
      [gamma, plain, false],
      [operator, alpha, true],
      [operator, gamma, true],
      [gamma, operator, true],
      [plain, operator, true],
    ]);
  });

  test('NP-03: a pod of the operator’s namespace without its labels, and one with its labels elsewhere, are nobody', async () => {
    await assertReach([
      [keycloak, gamma, false],
      [impostor, gamma, false],
      [gamma, keycloak, false],
      [gamma, impostor, false],
      [keycloak, plain, true],
      [impostor, plain, true],
    ]);
  });

  test('NP-01: a restricted agent resolves names over UDP and TCP, and reaches nothing else of the DNS pods', async () => {
    const name = 'kubernetes.default.svc.cluster.local';
    assert.match(await bed.exec(gamma, `timeout 5 nslookup ${name} 10.96.0.10`), /Address.*10\.96\.0\.1\b/s);
    const overTcp = `(printf '${query}'; sleep 2) | timeout 4 nc 10.96.0.10 53 | od -An -tx1 | head -2`;
    assert.match(await bed.exec(gamma, overTcp), /12 34 8/);
    const { items } = await bed.client.list(
      { apiVersion: 'v1', kind: 'Pod', plural: 'pods', namespaced: true },
      { namespace: 'kube-system', labels: 'k8s-app=kube-dns' },
    );
    const address = (items[0] as { readonly status?: { readonly podIP?: string } } | undefined)?.status?.podIP ?? '';
    const health = `timeout 2 wget -qO- http://${address}:8080/health || echo none`;
    assert.equal((await bed.exec(gamma, health)).trim(), 'none');
    assert.equal((await bed.exec(plain, health)).trim(), 'OK');
  });

  test('verified agents reach each other across namespaces, by address and by name; nobody else reaches them', async () => {
    await bed.judge(alpha, true);
    await bed.judge(beta, true);
    await until(alpha, beta, true);
    await until(beta, alpha, true);
    assert.match(await bed.exec(alpha, 'timeout 5 wget -qO- http://beta.team2.svc.cluster.local/'), /^beta-/);
    await assertReach([
      [plain, alpha, false],
      [keycloak, alpha, false],
      [operator, alpha, true],
      [alpha, plain, true],
    ]);
  });

  test('an agent that is not verified neither reaches them nor is reached', async () => {
    await assertReach([
      [gamma, alpha, false],
      [gamma, beta, false],
      [alpha, gamma, false],
      [beta, gamma, false],
    ]);
  });

  test('NP-02: it recovers with enforcement on: the operator reaches it, and once verified everybody verified does, without a restart', async (t) => {
    const before = await bed.podAt(gamma);
    assert.equal(await bed.calls(operator, gamma), true);
    await measure(t, 'from the verdict until a verified agent gets through', true);
    await until(gamma, beta, true);
    await until(beta, gamma, true);
    await assertReach([
      [gamma, plain, true],
      [plain, gamma, false],
    ]);
    const now = await bed.podAt(gamma);
    assert.equal(now.metadata.uid, before.metadata.uid);
    assert.deepEqual(
      now.status?.containerStatuses?.map(({ restartCount }) => restartCount),
      [0],
    );
  });

  test('a verdict that is withdrawn closes it again to new connections; what becomes of an open one is the network’s to say', async (t) => {
    const address = await bed.addressOf(gamma);
    // Runs on when this command has ended: lines to an open connection, and what comes back.
    await bed.exec(
      alpha,
      `rm -f /tmp/back; (while :; do echo x; usleep 100000; done | nc ${address} 9000 > /tmp/back) > /dev/null 2>&1 &`,
    );
    const received = async () => Number((await bed.exec(alpha, 'wc -c < /tmp/back')).trim());
    await eventually(async () => assert.ok((await received()) > 0));
    await measure(t, 'from the withdrawal until a verified agent no longer gets through', false);
    await until(gamma, alpha, false);
    await assertReach([
      [alpha, gamma, false],
      [gamma, plain, false],
      [operator, gamma, true],
      [alpha, beta, true],
    ]);
    const [then, later] = [await received(), await received()];
    t.diagnostic(`a connection that was open before ${later > then ? 'goes on' : 'has stopped'} on this network`);
  });

  test('an agent that is deleted without a verdict stays closed while its pod ends, which may take long', async () => {
    const pod = await bed.podAt(delta);
    assert.equal(await bed.callsFrom(pod, plain), false);
    await bed.client.remove({ kind: kinds.deployment, namespace: 'team1', name: 'delta' });
    const waiting = eventually(async () => {
      const { items } = await bed.client.list(kinds.networkPolicy, { namespace: 'team1' });
      assert.ok(!items.some(({ metadata }) => metadata.name === 'delta-signature-policy'));
    }, 90_000);
    const command =
      'i=0; while [ $i -lt 10 ]; do timeout 1 wget -qO- http://TO:8080/ && break; i=$((i+1)); done; echo none';
    assert.equal((await bed.execIn(pod, command.replace('TO', await bed.addressOf(plain)))).trim(), 'none');
    await waiting;
    assert.equal(await bed.callsFrom(pod, plain), false);
    const { metadata } = await bed.client.get(kinds.pod, { namespace: 'team1', name: pod.metadata.name ?? '' });
    assert.notEqual(metadata.deletionTimestamp, undefined);
  });
});
