// Starts an API server of a test's own: etcd, kube-apiserver and, if asked, kube-controller-manager, without a node.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { type ApiServerClient, apiServerClient } from './api-server-client.ts';
import type { BinaryName } from './binaries.ts';
import { type BinaryPaths, ensureBinaries, pathOf } from './build.ts';
import { type Component, endProcesses, startComponent, untilReady } from './component.ts';
import { serverUrl, writeControlPlaneFiles } from './control-plane-files.ts';
import { apiServerFlags, type ControlPlaneLayout, controllerManagerFlags, etcdFlags } from './flags.ts';
import { writeKubeconfig } from './kubeconfig.ts';
import { findFreePort } from './ports.ts';
import { reportToStderr } from './progress.ts';
import { makeOwnedDir, sweepAbandonedDirs } from './owned-dir.ts';

export interface ControlPlaneOptions {
  /** A word for the folder's name. */
  readonly name?: string;
  /** More flags; a later flag of the same name wins. */
  readonly flags?: { readonly apiServer?: readonly string[] };
  /** Default false: no controller runs, so no `default` ServiceAccount, no garbage collection, no namespace deletion. */
  readonly withControllerManager?: boolean;
  /** Writes an audit log at level Metadata. Default false. */
  readonly audit?: boolean;
  /** Where its folder is made; default the system's temporary folder. */
  readonly tmpDir?: string;
}

/** A running control plane. It ends with `stop()` or with the process that started it, whichever comes first. */
export interface ControlPlane {
  /** The administrator's kubeconfig. */
  readonly kubeconfigPath: string;
  /** Such as `https://127.0.0.1:21001`. */
  readonly server: string;
  readonly dir: string;
  /** `ca.crt`, `admin.crt`, `admin.key` and the components' certificates. */
  readonly certificatesDir: string;
  /** JSON lines; undefined unless `audit` was asked for. */
  readonly auditLogPath: string | undefined;
  /** Every process it runs now. */
  processes(): readonly Component[];
  /** Ends the API server: at once (SIGKILL), or after it has finished its requests (`isGraceful`). */
  stopApiServer(options?: { readonly isGraceful?: boolean }): Promise<void>;
  /** Starts it again on the same port with the same data; resolves when `/readyz` answers. */
  startApiServer(): Promise<void>;
  /** `stopApiServer` and `startApiServer`. */
  restartApiServer(options?: { readonly isGraceful?: boolean }): Promise<void>;
  /** Ends every process and removes the folder. */
  stop(): Promise<void>;
}

/** Starts a control plane on loopback and resolves when it is ready, about four seconds later. */
export async function startControlPlane(options: ControlPlaneOptions = {}): Promise<ControlPlane> {
  const names: readonly BinaryName[] = ['etcd', 'kube-apiserver', 'kube-controller-manager'];
  const binaryPaths = await ensureBinaries(names, reportToStderr);
  sweepAbandonedDirs(options.tmpDir);
  const dir = makeOwnedDir(options.name ?? 'control-plane', options.tmpDir);
  const layout = await writeControlPlaneFiles({
    dir,
    etcdDataDir: join(dir, 'etcd'),
    address: '127.0.0.1',
    port: await findFreePort(),
    isAudited: options.audit ?? false,
  });
  const running = new Map<string, Component>();
  const plane = controlPlane({ dir, layout, binaryPaths, options, running });
  try {
    await plane.begin();
  } catch (error) {
    await plane.stop();
    throw error;
  }
  return plane;
}

interface Parts {
  readonly dir: string;
  readonly layout: ControlPlaneLayout;
  readonly binaryPaths: BinaryPaths;
  readonly options: ControlPlaneOptions;
  /** By component; changes as components start and end. */
  readonly running: Map<string, Component>;
}

function controlPlane(parts: Parts): ControlPlane & { begin(): Promise<void> } {
  const { dir, layout, options, running } = parts;
  const kubeconfigPath = join(dir, 'kubeconfig');
  const server = serverUrl(layout);
  writeKubeconfig(kubeconfigPath, { server, certificatesDir: layout.certificatesDir, user: 'admin' });
  const startApiServer = (): Promise<void> => startReadyApiServer(parts);
  const stopApiServer: ControlPlane['stopApiServer'] = async ({ isGraceful = false } = {}) => {
    const apiServer = running.get('kube-apiserver');
    if (apiServer !== undefined) await endProcesses([apiServer], isGraceful ? 70_000 : 0);
    running.delete('kube-apiserver');
  };
  return {
    kubeconfigPath,
    server,
    dir,
    certificatesDir: layout.certificatesDir,
    auditLogPath: layout.audit?.logPath,
    processes: () => [...running.values()],
    begin: async () => {
      start(parts, 'etcd', etcdFlags(layout));
      await startApiServer();
      if (options.withControllerManager === true) await startControllers(parts);
    },
    startApiServer,
    stopApiServer,
    restartApiServer: async (how) => {
      await stopApiServer(how);
      await startApiServer();
    },
    stop: async () => {
      await endProcesses([...running.values()], 0);
      running.clear();
      rmSync(dir, { recursive: true, force: true, maxRetries: 3 });
    },
  };
}

function start({ dir, binaryPaths, running }: Parts, name: BinaryName, parameters: readonly string[]): Component {
  const component = startComponent({
    component: name,
    program: pathOf(binaryPaths, name),
    parameters,
    logPath: join(dir, 'log', `${name}.log`),
    cwd: dir,
    endsWith: 'parent',
  });
  running.set(name, component);
  return component;
}

async function startReadyApiServer(parts: Parts): Promise<void> {
  const extraFlags = parts.options.flags?.apiServer ?? [];
  const apiServer = start(parts, 'kube-apiserver', [...apiServerFlags(parts.layout), ...extraFlags]);
  await withClient(parts.layout, (client) =>
    untilReady(apiServer, () => client.answers('/readyz'), { timeoutMs: 90_000 }),
  );
}

// The controllers are at work when the first of them has done something everybody needs.
async function startControllers(parts: Parts): Promise<void> {
  const controllers = start(parts, 'kube-controller-manager', controllerManagerFlags(parts.layout));
  await withClient(parts.layout, (client) =>
    untilReady(controllers, () => client.answers('/api/v1/namespaces/default/serviceaccounts/default'), {
      timeoutMs: 90_000,
    }),
  );
}

async function withClient(layout: ControlPlaneLayout, use: (client: ApiServerClient) => Promise<void>): Promise<void> {
  const client = apiServerClient(serverUrl(layout), layout.certificatesDir);
  try {
    await use(client);
  } finally {
    client.close();
  }
}
