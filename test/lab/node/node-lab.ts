// Starts a whole cluster of one node in namespaces of its own: nothing of it is the host's but one virtual cable.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type ApiServerClient, apiServerClient } from '../api-server-client.ts';
import { type BinaryName, clusterBinaries } from '../binaries.ts';
import { type BinaryPaths, ensureBinaries, pathOf } from '../build.ts';
import type { Component } from '../component.ts';
import { serverUrl, writeControlPlaneFiles } from '../control-plane-files.ts';
import type { ControlPlaneLayout } from '../flags.ts';
import { writeKubeconfig } from '../kubeconfig.ts';
import { type LabRecord, labRecord } from '../lab-record.ts';
import { labKubeconfigPath, labLogPath } from '../locations.ts';
import { startInTurn } from '../loopback-lab.ts';
import { type Report, timed } from '../progress.ts';
import type { NodeLab } from '../state.ts';
import { ensureBusybox } from './busybox.ts';
import { makeCgroup } from './cgroups.ts';
import { ensureLabImages, importImage, labImages } from './images.ts';
import { arrangeMounts, type Namespaces, startInside, startNamespaces } from './namespaces.ts';
import { connectNetwork } from './network.ts';
import { type NodeFiles, writeNodeFiles } from './node-files.ts';
import { apiServerPort, type NodeLayout, nodeLayout, nodeName } from './node-layout.ts';
import { applySystemManifests, findSnapshotter, untilContainerdAnswers, untilNodeWorks } from './node-readiness.ts';
import { ensureNodePackages, findCniPluginDir } from './packages.ts';

/** A lab that is being started; its state on disk follows every step. */
interface Start {
  readonly layout: NodeLayout;
  readonly paths: BinaryPaths;
  readonly busybox: string;
  readonly namespaces: Namespaces;
  readonly controlPlane: ControlPlaneLayout;
  readonly client: ApiServerClient;
  readonly report: Report;
  readonly startInside: (name: BinaryName | 'containerd', parameters: readonly string[]) => Component;
}

/** Builds and installs what is missing, starts the cluster and waits until pods run, names resolve and policies
 * are enforced. */
export async function startNodeLab(name: string, report: Report): Promise<NodeLab> {
  await ensureNodePackages(report);
  const paths = await ensureBinaries(clusterBinaries, report);
  const busybox = await ensureBusybox(report);
  const archives = await ensureLabImages(paths, busybox);
  const layout = nodeLayout(name);
  mkdirSync(layout.dir, { recursive: true });
  const record = labRecord(initialState(name, layout));
  const { namespaces, controlPlane } = await timed(report, 'namespaces, network and certificates', () =>
    prepare(record, layout, paths),
  );
  const client = apiServerClient(serverUrl(controlPlane), controlPlane.certificatesDir);
  const startComponentInside: Start['startInside'] = (component, parameters) => {
    const program = component === 'containerd' ? component : pathOf(paths, component);
    const logPath = labLogPath(name, component);
    return record.add(startInside(namespaces, { component, program, parameters, logPath }));
  };
  const start = { layout, paths, busybox, namespaces, controlPlane, client, report, startInside: startComponentInside };
  try {
    await startComponents(start, archives);
  } finally {
    client.close();
  }
  return record.change({ isComplete: true });
}

function initialState(name: string, { linkName, cgroupRoot }: NodeLayout): NodeLab {
  return {
    kind: 'node',
    name,
    startedAt: new Date().toISOString(),
    isComplete: false,
    server: '',
    hostAddress: '',
    processes: [],
    init: undefined,
    linkName,
    cgroupRoot,
  };
}

async function prepare(record: LabRecord<NodeLab>, layout: NodeLayout, paths: BinaryPaths) {
  const { dir, linkName, cgroupRoot } = layout;
  const logPath = join(dir, 'log', 'namespaces.log');
  const namespaces = await startNamespaces(pathOf(paths, 'pause'), { dir, logPath, onStart: record.add });
  record.change({ init: namespaces.init });
  makeCgroup(cgroupRoot);
  await arrangeMounts(namespaces, dir);
  const { hostAddress, nodeAddress } = await connectNetwork(namespaces, linkName);
  const controlPlane = await writeControlPlaneFiles({
    dir,
    etcdDataDir: '/var/lib/etcd',
    address: nodeAddress,
    port: apiServerPort,
    isAudited: false,
    node: { name: nodeName, address: nodeAddress },
  });
  const server = serverUrl(controlPlane);
  const { name } = record.change({ server, hostAddress });
  const { certificatesDir } = controlPlane;
  writeKubeconfig(labKubeconfigPath(name), { server, certificatesDir, user: 'admin' });
  return { namespaces, controlPlane };
}

async function startComponents(start: Start, archives: readonly string[]): Promise<void> {
  const { layout, controlPlane, namespaces, client, report } = start;
  const files = writeNodeFiles({
    layout,
    controlPlane,
    cniPluginDir: findCniPluginDir(),
    pauseImage: labImages.pause,
    snapshotter: await findSnapshotter(namespaces),
  });
  const images = timed(report, 'containerd and images', () => startContainerd(start, files, archives));
  await Promise.all([images, startInTurn({ layout: controlPlane, client, report, start: start.startInside })]);
  const kubelet = await startNode(start, files);
  await timed(report, 'node, DNS and network policies', () =>
    untilNodeWorks({ client, namespaces, kubelet, busybox: start.busybox }),
  );
}

async function startContainerd(start: Start, files: NodeFiles, archives: readonly string[]): Promise<void> {
  const containerd = start.startInside('containerd', ['--config', files.containerdConfig]);
  await untilContainerdAnswers(start.namespaces, containerd);
  await Promise.all(archives.map((archive) => importImage(start.namespaces, { archive, labDir: start.layout.dir })));
}

async function startNode(start: Start, files: NodeFiles): Promise<Component> {
  const { controlPlane, startInside } = start;
  const kubeconfig = (component: string): string => join(controlPlane.kubeconfigDir, `${component}.kubeconfig`);
  startInside('kube-proxy', [`--config=${files.kubeProxyConfig}`]);
  const kubelet = startInside('kubelet', [
    `--config=${files.kubeletConfig}`,
    `--kubeconfig=${kubeconfig('kubelet')}`,
    `--hostname-override=${nodeName}`,
    `--node-ip=${controlPlane.address}`,
    '--root-dir=/var/lib/kubelet',
  ]);
  await applySystemManifests(pathOf(start.paths, 'kubectl'), start.layout.dir, controlPlane);
  return kubelet;
}
