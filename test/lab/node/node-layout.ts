// The names, addresses and folders of one node lab.
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { labDir } from '../locations.ts';

/** The range of pod addresses; it exists only inside the lab's own network namespace. */
export const podCidr = '10.244.0.0/16';

/** The ClusterIP of the cluster's DNS. */
export const dnsClusterIp = '10.96.0.10';

/** The name of the lab's only node. */
export const nodeName = 'lab-node';

/** The port of the API server. */
export const apiServerPort = 6443;

/** A folder of the lab's namespaces for sockets and generated files; nobody outside sees it. */
export const runtimeDir = '/run/rossoctl-lab';

export interface NodeLayout {
  /** The lab's folder in the project. */
  readonly dir: string;
  /** The host's end of the virtual cable. */
  readonly linkName: string;
  /** The cgroup of all pods, in every hierarchy. */
  readonly cgroupRoot: string;
}

/** Everything named after the lab; two labs, of one checkout or of two, share no name. */
export function nodeLayout(name: string): NodeLayout {
  const dir = labDir(name);
  const digest = createHash('sha256').update(dir).digest('hex').slice(0, 8);
  return { dir, linkName: `rolab-${digest}`, cgroupRoot: `/rossoctl-lab-${name}-${digest}` };
}

/** Folders of the lab that stand for folders of the system inside its namespaces. */
export function boundFolders(dir: string): ReadonlyMap<string, string> {
  const folders = ['kubelet', 'containerd', 'etcd'].map((name): [string, string] => [
    join(dir, name),
    join('/var/lib', name),
  ]);
  return new Map([...folders, [join(dir, 'pods'), '/var/log/pods']]);
}
