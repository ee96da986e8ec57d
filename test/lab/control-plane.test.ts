// A control plane of a test's own: what works on it, and that it leaves nothing.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { apiServerClient } from './api-server-client.ts';
import { ensureBinaries, pathOf } from './build.ts';
import { type ControlPlane, startControlPlane } from './control-plane.ts';
import { isRunning, type ProcessIdentity } from './process-identity.ts';
import { reportToStderr } from './progress.ts';
import { runCommand } from './run-command.ts';
import { testNamespace, useLab } from './shared-lab.ts';

async function kubectl(kubeconfigPath: string, ...parameters: readonly string[]): Promise<string> {
  const program = pathOf(await ensureBinaries(['kubectl'], reportToStderr), 'kubectl');
  return runCommand(program, [`--kubeconfig=${kubeconfigPath}`, ...parameters]);
}

function isReady({ server, certificatesDir }: ControlPlane): Promise<boolean> {
  const client = apiServerClient(server, certificatesDir);
  return client.answers('/readyz').finally(() => client.close());
}

test('two at once serve apart, restart with their data, and leave nothing', async (t) => {
  const [one, two] = await Promise.all([startControlPlane({ name: 'one' }), startControlPlane({ name: 'two' })]);
  t.after(() => Promise.all([one.stop(), two.stop()]));
  await kubectl(one.kubeconfigPath, 'create', 'namespace', 'kept');
  assert.doesNotMatch(await kubectl(two.kubeconfigPath, 'get', 'namespaces', '-o', 'name'), /kept/);
  for (const isGraceful of [false, true]) {
    await one.restartApiServer({ isGraceful });
    assert.match(await kubectl(one.kubeconfigPath, 'get', 'namespaces', '-o', 'name'), /kept/);
  }
  await one.stopApiServer();
  assert.equal(await isReady(one), false);
  assert.equal(await isReady(two), true);
  await one.startApiServer();
  const processes = [...one.processes(), ...two.processes()];
  assert.equal(processes.length, 4);
  await Promise.all([one.stop(), two.stop()]);
  assert.deepEqual(processes.filter(isRunning), []);
  assert.equal(existsSync(one.dir) || existsSync(two.dir), false);
});

test('tokens are issued, admission policies are served and requests are written to the audit log', async (t) => {
  const plane = await startControlPlane({ name: 'audit', audit: true, withControllerManager: true });
  t.after(() => plane.stop());
  const token = await kubectl(plane.kubeconfigPath, 'create', 'token', 'default', '--audience=test');
  assert.equal(token.split('.').length, 3);
  const served = await kubectl(
    plane.kubeconfigPath,
    'api-resources',
    '--api-group=admissionregistration.k8s.io',
    '-o',
    'name',
  );
  assert.match(served, /validatingadmissionpolicies/);
  assert.match(served, /mutatingadmissionpolicies/);
  const records = readFileSync(plane.auditLogPath ?? '', 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as AuditRecord);
  const issued = records.filter(
    ({ user, objectRef }) => user.username === 'lab-admin' && objectRef?.subresource === 'token',
  );
  assert.equal(issued.length, 1);
});

interface AuditRecord {
  readonly user: { readonly username: string };
  readonly objectRef?: { readonly subresource?: string };
}

test('a mistaken flag is told with the component, its log and its last words', async () => {
  await assert.rejects(startControlPlane({ flags: { apiServer: ['--no-such-flag'] } }), (error: Error) => {
    assert.match(error.message, /kube-apiserver ended; its log is .*kube-apiserver\.log/);
    assert.match(error.message, /unknown flag: --no-such-flag/);
    return true;
  });
});

test('a killed test process takes its control plane with it', {
  skip: process.platform !== 'linux' && 'needs Linux',
}, async () => {
  const module = JSON.stringify(join(import.meta.dirname, 'control-plane.ts'));
  const script = `import { startControlPlane } from ${module};
    const plane = await startControlPlane();
    console.log(JSON.stringify(plane.processes()));
    setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ['--input-type=module-typescript', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  const processes = JSON.parse(line.toString()) as readonly ProcessIdentity[];
  assert.ok(processes.length > 0 && processes.every(isRunning));
  child.kill('SIGKILL');
  for (let waited = 0; processes.some(isRunning) && waited < 5000; waited += 50) await sleep(50);
  assert.deepEqual(processes.filter(isRunning), []);
});

test('the tests of one run share a control plane and keep apart by namespaces', async () => {
  const [one, two] = await Promise.all([useLab(), useLab()]);
  assert.deepEqual(one, two);
  const namespace = testNamespace('lab');
  await kubectl(one.kubeconfigPath, 'create', 'namespace', namespace);
  assert.notEqual(testNamespace('lab'), namespace);
});
