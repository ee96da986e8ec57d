// Starts a control plane on free loopback ports that goes on after the command: no root, no node, no pods.
import { mkdirSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ApiServerClient, apiServerClient } from './api-server-client.ts';
import { controlPlaneBinaries } from './binaries.ts';
import { ensureBinaries, pathOf } from './build.ts';
import { type Component, startComponent, untilReady } from './component.ts';
import { serverUrl, writeControlPlaneFiles } from './control-plane-files.ts';
import { apiServerFlags, controllerManagerFlags, etcdFlags, schedulerFlags } from './flags.ts';
import { writeKubeconfig } from './kubeconfig.ts';
import { labDir, labKubeconfigPath, labLogPath } from './locations.ts';
import { findFreePort } from './ports.ts';
import { type Report, timed } from './progress.ts';
import { type ControlPlaneLab, writeState } from './state.ts';

const readyTimeoutMs = 90_000;

/** Starts etcd, kube-apiserver, kube-controller-manager and kube-scheduler and waits until they work. */
export async function startLoopbackLab(name: string, report: Report): Promise<ControlPlaneLab> {
  const binaries = await ensureBinaries(controlPlaneBinaries, report);
  const dir = labDir(name);
  mkdirSync(dir, { recursive: true });
  const address = '127.0.0.1';
  const port = await findFreePort(address);
  // In the temporary folder, because the project's path may be too long for a socket.
  const socketDir = mkdtempSync(join(tmpdir(), 'rossoctl-lab-'));
  const etcdDataDir = join(dir, 'etcd');
  const place = { dir, socketDir, etcdDataDir, address, port, isAudited: false };
  let lab: ControlPlaneLab = {
    kind: 'control-plane',
    name,
    startedAt: new Date().toISOString(),
    isComplete: false,
    server: serverUrl(place),
    hostAddress: address,
    socketDir,
    processes: [],
  };
  writeState(lab);
  const layout = await writeControlPlaneFiles(place);
  const { certificatesDir } = layout;
  writeKubeconfig(labKubeconfigPath(name), { server: lab.server, certificatesDir, user: 'admin' });

  const start = (component: (typeof controlPlaneBinaries)[number], parameters: readonly string[]): Component => {
    const program = pathOf(binaries, component);
    const logPath = labLogPath(name, component);
    const started = startComponent({ component, program, parameters, logPath, cwd: socketDir, endsWith: 'itself' });
    lab = { ...lab, processes: [...lab.processes, started] };
    writeState(lab);
    return started;
  };
  const client = apiServerClient(lab.server, certificatesDir);
  const untilAnswers = (component: Component, path: string): Promise<void> =>
    untilReady(component, () => client.answers(path), { timeoutMs: readyTimeoutMs });
  try {
    await timed(report, 'etcd and kube-apiserver', async () => {
      start('etcd', etcdFlags(layout));
      await untilAnswers(start('kube-apiserver', apiServerFlags(layout)), '/readyz');
    });
    await timed(report, 'kube-controller-manager and kube-scheduler', async () => {
      start('kube-scheduler', schedulerFlags(layout));
      await untilControllersWork(start('kube-controller-manager', controllerManagerFlags(layout)), client);
    });
  } finally {
    client.close();
  }
  lab = { ...lab, isComplete: true };
  writeState(lab);
  return lab;
}

/** Waits for something that only a working controller makes. */
export function untilControllersWork(controllerManager: Component, client: ApiServerClient): Promise<void> {
  const made = '/api/v1/namespaces/default/serviceaccounts/default';
  return untilReady(controllerManager, () => client.answers(made), { timeoutMs: readyTimeoutMs });
}
