// A whole cluster of one node: pods run, Services answer, policies deny, two stand side by side, and nothing is left.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { existsSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import test, { after, before, describe } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { writeDockerArchive } from '../../scripts/docker-archive.ts';
import { ensureBinaries, pathOf } from './build.ts';
import { endProcesses } from './component.ts';
import { down } from './down.ts';
import { hostFootprint, leftovers } from './leftovers.ts';
import { loadImage } from './load-image.ts';
import { labDir, labKubeconfigPath } from './locations.ts';
import { ensureBusybox } from './node/busybox.ts';
import { ensureNodePackages } from './node/packages.ts';
import { reportToStderr } from './progress.ts';
import { runCommand } from './run-command.ts';
import { readState } from './state.ts';
import { canRunNode, up } from './up.ts';

const skip = !canRunNode() && 'a node needs root on Linux';
const names = [`test-${randomBytes(3).toString('hex')}`, `test-${randomBytes(3).toString('hex')}`] as const;
const [first, second] = names;
const wanted = (name: string) => ({ name, isControlPlaneOnly: false, context: undefined });

async function kubectl(name: string, ...parameters: readonly string[]): Promise<string> {
  const program = pathOf(await ensureBinaries(['kubectl'], reportToStderr), 'kubectl');
  return runCommand(program, [`--kubeconfig=${labKubeconfigPath(name)}`, ...parameters], { timeoutMs: 60_000 });
}

const busybox = (name: string, ...command: readonly string[]): readonly string[] => [
  'run',
  name,
  '--image=lab.local/busybox:1',
  '--image-pull-policy=Never',
  '--restart=Never',
  '--command',
  '--',
  ...command,
];

const denyPolicy = {
  apiVersion: 'networking.k8s.io/v1',
  kind: 'NetworkPolicy',
  metadata: { name: 'deny' },
  spec: { podSelector: { matchLabels: { run: 'server' } }, policyTypes: ['Ingress'] },
};

const fetchFromPod = (url: string): Promise<string> =>
  kubectl(first, 'exec', 'client', '--', 'timeout', '3', 'wget', '-qO-', url);

describe('node lab', { skip }, () => {
  let footprint: readonly string[] = [];

  before(async () => {
    await ensureNodePackages(reportToStderr);
    footprint = await hostFootprint();
    await Promise.all(names.map((name) => up(wanted(name), reportToStderr)));
    await kubectl(
      first,
      ...busybox(
        'server',
        'sh',
        '-c',
        'mkdir -p /tmp/w && echo served > /tmp/w/index.html && exec httpd -f -p 8080 -h /tmp/w',
      ),
    );
    await kubectl(first, ...busybox('client', 'sleep', '100000'));
    await kubectl(first, 'expose', 'pod', 'server', '--port=80', '--target-port=8080');
    await kubectl(first, 'wait', '--for=condition=Ready', 'pod/server', 'pod/client', '--timeout=60s');
  });

  after(() => Promise.all(names.map(down)));

  test('a Service answers by its name', async () => {
    assert.equal(await fetchFromPod('http://server.default.svc.cluster.local'), 'served\n');
  });

  test('the pod and its log are reached through the API server', async () => {
    assert.equal(
      await kubectl(first, 'get', '--raw', '/api/v1/namespaces/default/pods/server:8080/proxy/'),
      'served\n',
    );
    assert.equal(await kubectl(first, 'logs', 'server'), '');
  });

  test('what listens on the host is reached from inside at the host address', async (t) => {
    const state = readState(first);
    assert.ok(state?.kind === 'node');
    const server = createServer((_, response) => response.end('from the host'));
    await new Promise<void>((listening) => server.listen(0, state.hostAddress, listening));
    t.after(() => server.close());
    const address = server.address();
    assert.ok(address !== null && typeof address === 'object');
    assert.equal(await fetchFromPod(`http://${state.hostAddress}:${address.port}`), 'from the host');
  });

  test('a NetworkPolicy denies, and its removal allows again', async () => {
    const file = join(labDir(first), 'policy.json');
    writeFileSync(file, JSON.stringify(denyPolicy));
    await kubectl(first, 'create', '-f', file);
    await eventually(async () => assert.rejects(fetchFromPod('http://server')));
    await kubectl(first, 'delete', '-f', file);
    await eventually(async () => assert.equal(await fetchFromPod('http://server'), 'served\n'));
  });

  test('an image archive is loaded once and runs', async () => {
    const [file, tag] = [join(labDir(first), 'loaded.tar'), 'lab.local/loaded:1'];
    const source = await ensureBusybox(reportToStderr);
    writeDockerArchive({ file, tag, entries: [{ path: 'busybox', mode: 0o755, source }], config: { User: '1000' } });
    assert.equal(await loadImage(first, file), true);
    assert.equal(await loadImage(first, file), false);
    const command = ['--restart=Never', '--command', '--', '/busybox', 'echo', 'loaded'];
    await kubectl(first, 'run', 'loaded', `--image=${tag}`, '--image-pull-policy=Never', ...command);
    await kubectl(first, 'wait', '--for=jsonpath={.status.phase}=Succeeded', 'pod/loaded', '--timeout=30s');
    assert.equal(await kubectl(first, 'logs', 'loaded'), 'loaded\n');
  });

  test('a lab that is up is found up, in under a second', async () => {
    const startMs = performance.now();
    const { isStarted } = await up(wanted(first), reportToStderr);
    assert.equal(isStarted, false);
    assert.ok(performance.now() - startMs < 1000);
  });

  test('a second lab knows nothing of the first and outlives it; a dead one is started anew', async () => {
    assert.doesNotMatch(await kubectl(second, 'get', 'pods', '-o', 'name'), /server/);
    const startMs = performance.now();
    await down(first);
    assert.ok(performance.now() - startMs < 5000);
    assert.deepEqual(await leftovers(first), []);
    assert.match(await kubectl(second, 'get', 'nodes'), / Ready /);

    const state = readState(second);
    assert.ok(state?.kind === 'node');
    await endProcesses(
      state.processes.filter(({ component }) => component === 'kubelet'),
      0,
    );
    assert.equal((await up(wanted(second), reportToStderr)).isStarted, true);
    assert.match(await kubectl(second, 'get', 'nodes'), / Ready /);
  });

  test('after the last is down the host is as it was', async () => {
    await down(second);
    assert.deepEqual([...(await leftovers(first)), ...(await leftovers(second))], []);
    assert.deepEqual(await hostFootprint(), footprint);
    assert.equal(existsSync(labDir(second)), false);
  });
});

async function eventually(check: () => Promise<void>): Promise<void> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      await check();
      return;
    } catch (error) {
      if (attempt === 10) throw error;
      await sleep(500);
    }
  }
}
