// Starts a control plane on free loopback ports that goes on after the command: no root, no node, no pods.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type ApiServerClient, apiServerClient } from './api-server-client.ts';
import { type BinaryName, controlPlaneBinaries } from './binaries.ts';
import { ensureBinaries, pathOf } from './build.ts';
import { type Component, startComponent, untilReady } from './component.ts';
import { serverUrl, writeControlPlaneFiles } from './control-plane-files.ts';
import { apiServerFlags, type ControlPlaneLayout, controllerManagerFlags, etcdFlags, schedulerFlags } from './flags.ts';
import { writeKubeconfig } from './kubeconfig.ts';
import { labRecord } from './lab-record.ts';
import { labDir, labKubeconfigPath, labLogPath } from './locations.ts';
import { findFreePort } from './ports.ts';
import { type Report, timed } from './progress.ts';
import type { ControlPlaneLab } from './state.ts';

const readyTimeoutMs = 120_000;

type StartComponent = (component: BinaryName, parameters: readonly string[]) => Component;

/** Starts etcd, kube-apiserver, kube-controller-manager and kube-scheduler and waits until they work. */
export async function startLoopbackLab(name: string, report: Report): Promise<ControlPlaneLab> {
  const binaries = await ensureBinaries(controlPlaneBinaries, report);
  const dir = labDir(name);
  mkdirSync(dir, { recursive: true });
  const address = '127.0.0.1';
  const port = await findFreePort();
  const place = { dir, etcdDataDir: join(dir, 'etcd'), address, port, isAudited: false };
  const server = serverUrl(place);
  const record = labRecord(initialState(name, server));
  const layout = await writeControlPlaneFiles(place);
  const { certificatesDir } = layout;
  writeKubeconfig(labKubeconfigPath(name), { server, certificatesDir, user: 'admin' });

  const start: StartComponent = (component, parameters) => {
    const [program, logPath] = [pathOf(binaries, component), labLogPath(name, component)];
    return record.add(startComponent({ component, program, parameters, logPath, cwd: dir, endsWith: 'itself' }));
  };
  const client = apiServerClient(server, certificatesDir);
  try {
    await startInTurn({ layout, client, report, start });
  } finally {
    client.close();
  }
  return record.change({ isComplete: true });
}

function initialState(name: string, server: string): ControlPlaneLab {
  return {
    kind: 'control-plane',
    name,
    startedAt: new Date().toISOString(),
    isComplete: false,
    server,
    hostAddress: '127.0.0.1',
    processes: [],
  };
}

interface ControlPlaneStart {
  readonly layout: ControlPlaneLayout;
  readonly client: ApiServerClient;
  readonly report: Report;
  readonly start: StartComponent;
}

/** Starts the components of a control plane and waits until the API server answers and the controllers work. */
export async function startInTurn({ layout, client, report, start }: ControlPlaneStart): Promise<void> {
  await timed(report, 'etcd and kube-apiserver', async () => {
    start('etcd', etcdFlags(layout));
    const apiServer = start('kube-apiserver', apiServerFlags(layout));
    await untilReady(apiServer, () => client.answers('/readyz'), { timeoutMs: readyTimeoutMs });
  });
  await timed(report, 'kube-controller-manager and kube-scheduler', async () => {
    start('kube-scheduler', schedulerFlags(layout));
    const controllers = start('kube-controller-manager', controllerManagerFlags(layout));
    await untilReady(controllers, () => client.answers(controllersAtWorkPath), { timeoutMs: readyTimeoutMs });
  });
}

// Only a working controller makes it.
const controllersAtWorkPath = '/api/v1/namespaces/default/serviceaccounts/default';
