/** How proxy-init runs: again without a change, with one backend after the other, beside rules of others, and loudly where it cannot. */

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { environment } from '../runtime/sidecar/capture/environment.ts';
import { addresses, cannotCapture, openPodNetwork, type PodNetwork } from './pod-network.ts';

const skip = await cannotCapture();
const role = path.join(import.meta.dirname, 'proxy-init.ts');
const saves = ['iptables-nft-save', 'ip6tables-nft-save', 'iptables-legacy-save', 'ip6tables-legacy-save'];

type Environment = Readonly<Record<string, string>>;

/** Ends the role's run as its container would: exit code and log lines. */
function initialise({ run }: PodNetwork, env: Environment = {}, through: readonly string[] = []) {
  const { status, stdout, stderr } = run('pod', [...through, process.execPath, role], { ...environment, ...env });
  const lines = stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>);
  return { status, stderr, last: lines.at(-1) ?? {}, lines };
}

/** Rules and chains that a program prints, without times and counters. */
const rulesIn = (text: string) =>
  text
    .split('\n')
    .filter((line) => /^(:|-A )/.test(line))
    .map((line) => line.replace(/ \[\d+:\d+\]$/, ''));

const saved = ({ run }: PodNetwork, program: string) => rulesIn(run('pod', [program]).stdout);
const own = (lines: readonly string[]) => lines.filter((line) => line.includes('ROSSOCTL'));

const onHost = () => saves.map((program) => own(rulesIn(spawnSync(program, { encoding: 'utf8' }).stdout)));

/** Opens a pod and checks at the end that nothing of ours reached this machine's own network. */
async function openPod(t: TestContext, options: { readonly ipv6?: boolean } = {}): Promise<PodNetwork> {
  const before = onHost();
  t.after(() => assert.deepEqual(onHost(), before));
  return openPodNetwork(t, options);
}

for (const backend of ['nft', 'legacy'] as const) {
  test(`${backend}: a second run changes nothing and keeps the rules of others`, { skip }, async (t) => {
    const pod = await openPod(t);
    const programs = [`iptables-${backend}-save`, `ip6tables-${backend}-save`];
    pod.run('pod', [`iptables-${backend}`, '-t', 'nat', '-A', 'OUTPUT', '-d', '192.0.2.1', '-j', 'RETURN']);
    assert.equal(initialise(pod, { IPTABLES_BACKEND: backend }).status, 0);
    const first = programs.map((program) => saved(pod, program));
    assert.equal(own(first[0] ?? []).length > 20, true);
    assert.equal(first[0]?.filter((line) => line.includes('192.0.2.1')).length, 1);

    const again = initialise(pod);
    assert.deepEqual([again.status, again.last['backend']], [0, backend], 'the backend of the first run is found');
    assert.deepEqual(
      programs.map((program) => saved(pod, program)),
      first,
    );
  });

  test(`${backend}: a jump that others have pushed back is first again, and a changed port leaves no rule of the old one`, {
    skip,
  }, async (t) => {
    const pod = await openPod(t);
    assert.equal(initialise(pod, { IPTABLES_BACKEND: backend }).status, 0);
    pod.run('pod', [`iptables-${backend}`, '-t', 'nat', '-I', 'OUTPUT', '-p', 'tcp', '-j', 'ACCEPT']);
    assert.equal(initialise(pod, { PROXY_PORT: '15200' }).status, 0);
    const lines = saved(pod, `iptables-${backend}-save`);
    assert.deepEqual(
      lines.filter((line) => /^-A OUTPUT -p tcp -j (ACCEPT|ROSSOCTL_OUTBOUND)/.test(line)),
      ['-A OUTPUT -p tcp -j ROSSOCTL_OUTBOUND', '-A OUTPUT -p tcp -j ACCEPT'],
    );
    assert.deepEqual(
      lines.filter((line) => line.includes('15123')),
      [],
    );
  });
}

test('when the other backend is asked for, the first one’s rules are taken away', { skip }, async (t) => {
  const pod = await openPod(t);
  assert.equal(initialise(pod, { IPTABLES_BACKEND: 'legacy' }).status, 0);
  assert.equal(initialise(pod, { IPTABLES_BACKEND: 'nft' }).status, 0);
  const counts = saves.map((program) => own(saved(pod, program)).length);
  assert.deepEqual(
    counts.map((count) => count > 0),
    [true, true, false, false],
  );
});

test('the backend that others use in this pod is used, and nft where nobody does', { skip }, async (t) => {
  const pod = await openPod(t);
  const fresh = await openPod(t);
  pod.run('pod', ['iptables-legacy', '-t', 'filter', '-A', 'INPUT', '-s', '192.0.2.1', '-j', 'DROP']);
  assert.equal(initialise(pod).last['backend'], 'legacy');
  assert.equal(initialise(fresh).last['backend'], 'nft');
});

test('a backend that takes only half of the rules is cleared and the other one used', { skip }, async (t) => {
  const pod = await openPod(t);
  const programs = mkdtempSync(path.join(tmpdir(), 'rossoctl-programs-'));
  t.after(() => rmSync(programs, { recursive: true }));
  const restores = saves.map((program) => program.replace('save', 'restore'));
  const there = [...saves, ...restores].filter((program) => program !== 'ip6tables-nft-restore');
  for (const name of there) {
    const found = spawnSync('sh', ['-c', `command -v ${name}`], { encoding: 'utf8' });
    symlinkSync(found.stdout.trim(), path.join(programs, name));
  }
  const { status, last, lines } = initialise(pod, {}, ['env', `PATH=${programs}`]);
  assert.equal(status, 0, JSON.stringify(lines));
  assert.deepEqual([last['backend'], last['because']], ['legacy', 'the other refused']);
  const counts = saves.map((program) => own(saved(pod, program)).length);
  assert.deepEqual(
    counts.map((count) => count > 0),
    [false, false, true, true],
  );
});

test('a pod without IPv6 is captured over IPv4', { skip }, async (t) => {
  const pod = await openPod(t, { ipv6: false });
  const { status, last } = initialise(pod);
  assert.deepEqual([status, last['ipv6']], [0, 'unused']);
  await pod.answer('pod', [{ name: 'inbound', host: '0.0.0.0', port: 15_124, original: true }]);
  assert.deepEqual(pod.dial('neighbour', [{ to: [addresses.pod, 8080] }]), [`inbound ${addresses.pod}:8080`]);
});

for (const backend of ['nft', 'legacy'] as const) {
  test(`${backend}: the two capabilities the webhook gives are enough`, { skip }, async (t) => {
    const pod = await openPod(t);
    const container = ['setpriv', '--bounding-set=-all,+net_admin,+net_raw', '--no-new-privs'];
    const { status, last } = initialise(pod, { IPTABLES_BACKEND: backend }, container);
    assert.deepEqual([status, last['backend']], [0, backend]);
  });
}

for (const backend of ['nft', 'legacy', ''] as const) {
  test(`without NET_ADMIN the run fails and says what to do (backend: ${backend || 'any'})`, { skip }, async (t) => {
    const pod = await openPod(t);
    const { status, last } = initialise(pod, { IPTABLES_BACKEND: backend }, ['setpriv', '--bounding-set=-net_admin']);
    assert.equal(status, 1);
    assert.deepEqual([last['level'], last['code']], ['error', 'CAPTURE_FAILED']);
    assert.match(String(last['msg']), /NET_ADMIN and NET_RAW.*authBridgeMode: proxy-sidecar/);
    assert.deepEqual(
      saves.flatMap((program) => own(saved(pod, program))),
      [],
    );
  });
}

test('a lock file that cannot be written fails and says what to do', { skip }, async (t) => {
  const pod = await openPod(t);
  const { status, last } = initialise(pod, { IPTABLES_BACKEND: 'legacy', XTABLES_LOCKFILE: '/proc/xtables.lock' });
  assert.equal(status, 1);
  assert.match(String(last['msg']), /mount an emptyDir at \/run, or set XTABLES_LOCKFILE/);
});

test('an image without iptables fails and says so', { skip }, async (t) => {
  const pod = await openPod(t);
  const through = ['env', `PATH=${path.join(import.meta.dirname, 'nothing-here')}`];
  const { status, last } = initialise(pod, {}, through);
  assert.equal(status, 1);
  assert.match(String(last['msg']), /the image lacks iptables/);
});

test('settings that cannot be used fail before a rule is written', { skip }, async (t) => {
  const pod = await openPod(t);
  const { status, last } = initialise(pod, { PROXY_UID: 'root', OUTBOUND_PORTS_EXCLUDE: '80,http' });
  assert.equal(status, 1);
  assert.match(String(last['msg']), /PROXY_UID: "root".*OUTBOUND_PORTS_EXCLUDE: "http"/);
  assert.deepEqual(own(saved(pod, 'iptables-nft-save')), []);
});

test('the network of a node is left alone', { skip }, async (t) => {
  const pod = await openPod(t);
  pod.run('pod', ['iptables-nft', '-t', 'mangle', '-N', 'KUBE-IPTABLES-HINT']);
  const { status, last } = initialise(pod);
  assert.equal(status, 1);
  assert.match(String(last['msg']), /without hostNetwork/);
  assert.deepEqual(own(saved(pod, 'iptables-nft-save')), []);
});
