// Waits for the parts of a node by what they do, not by what they say about themselves.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ApiServerClient } from '../api-server-client.ts';
import { type Component, untilReady } from '../component.ts';
import type { ControlPlaneLayout } from '../flags.ts';
import { serverUrl } from '../control-plane-files.ts';
import { LabError } from '../lab-error.ts';
import { writeKubeconfig } from '../kubeconfig.ts';
import { runCommand } from '../run-command.ts';
import { systemManifests } from './manifests.ts';
import { type Namespaces, runInside } from './namespaces.ts';
import { dnsClusterIp, nodeName } from './node-layout.ts';

/** overlayfs where the file system of the lab's folder can carry it, else plain copies. */
export async function findSnapshotter(namespaces: Namespaces): Promise<'overlayfs' | 'native'> {
  const script = `set -e
cd /var/lib/containerd
mkdir -p probe/lower probe/upper probe/work probe/merged
mount -t overlay -o lowerdir=probe/lower,upperdir=probe/upper,workdir=probe/work overlay probe/merged
umount probe/merged
rm -r probe`;
  return (await succeeds(runInside(namespaces, 'sh', '-c', script))) ? 'overlayfs' : 'native';
}

/** Waits until containerd takes commands. */
export function untilContainerdAnswers(namespaces: Namespaces, containerd: Component): Promise<void> {
  const ask = (): Promise<boolean> => succeeds(runInside(namespaces, 'ctr', '--timeout=2s', 'version'));
  return untilReady(containerd, ask, { timeoutMs: 30_000 });
}

/** Applies the lab's own objects. */
export async function applySystemManifests(kubectl: string, dir: string, layout: ControlPlaneLayout): Promise<void> {
  const [manifest, kubeconfig] = [join(dir, 'node', 'system.json'), join(layout.kubeconfigDir, 'admin.kubeconfig')];
  writeFileSync(manifest, JSON.stringify(systemManifests(), null, 2));
  writeKubeconfig(kubeconfig, {
    server: serverUrl(layout),
    certificatesDir: layout.certificatesDir,
    user: 'admin',
  });
  await runCommand(kubectl, [`--kubeconfig=${kubeconfig}`, 'create', '--validate=false', '-f', manifest]);
}

export interface NodeUnderTest {
  readonly client: ApiServerClient;
  readonly namespaces: Namespaces;
  readonly kubelet: Component;
  readonly busybox: string;
}

/** Waits until the node reports itself ready, the cluster's DNS answers at its ClusterIP and the policy table is
 * loaded; before that, everything would be let through. */
export async function untilNodeWorks({ client, namespaces, kubelet, busybox }: NodeUnderTest): Promise<void> {
  const startedAt = Date.now();
  const isNodeReady = async (): Promise<boolean> =>
    hasFreshReady(await client.read(`/api/v1/nodes/${nodeName}`), startedAt);
  const isDnsAnswering = (): Promise<boolean> => {
    const name = 'kubernetes.default.svc.cluster.local';
    return succeeds(runInside(namespaces, 'timeout', '1', busybox, 'nslookup', name, dnsClusterIp));
  };
  const isPolicyTableLoaded = (): Promise<boolean> =>
    succeeds(runInside(namespaces, 'nft', 'list', 'table', 'inet', 'kube-network-policies'));
  const steps: readonly (readonly [string, () => Promise<boolean>])[] = [
    ['the node is not Ready', isNodeReady],
    ['the DNS does not answer', isDnsAnswering],
    ['the network-policies daemon has loaded no table', isPolicyTableLoaded],
  ];
  for (const [failure, isReady] of steps) {
    try {
      await untilReady(kubelet, isReady, { timeoutMs: 120_000, intervalMs: 100 });
    } catch (cause) {
      throw new LabError(`${failure}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
    }
  }
}

interface NodeStatus {
  readonly status?: {
    readonly conditions?: readonly {
      readonly type: string;
      readonly status: string;
      readonly lastHeartbeatTime: string;
    }[];
  };
}

// The API server keeps what an earlier kubelet said; times are in whole seconds.
function hasFreshReady(node: unknown, startedAt: number): boolean {
  const conditions = (node as NodeStatus | undefined)?.status?.conditions ?? [];
  return conditions.some(
    ({ type, status, lastHeartbeatTime }) =>
      type === 'Ready' && status === 'True' && Date.parse(lastHeartbeatTime) >= startedAt - 10_000,
  );
}

async function succeeds(command: Promise<unknown>): Promise<boolean> {
  try {
    await command;
    return true;
  } catch {
    return false;
  }
}
