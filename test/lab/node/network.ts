// Connects a node lab's network namespace to the host by a virtual cable with an address block of its own.
import { exclusively } from '../exclusive.ts';
import { serviceCidr } from '../flags.ts';
import { LabError } from '../lab-error.ts';
import { runCommand } from '../run-command.ts';
import { type Namespaces, runInside } from './namespaces.ts';

// Each lab takes four addresses: network, host, node, broadcast.
const labNetwork = '172.31.255';
const blockSize = 4;

export interface LabAddresses {
  /** Where processes of the host are reached from inside, such as webhooks. */
  readonly hostAddress: string;
  /** The node's address, reached from the host. */
  readonly nodeAddress: string;
}

/** The first block of four addresses of which none is taken. */
export function freeBlock(takenAddresses: readonly string[]): LabAddresses {
  for (let first = 0; first < 256; first += blockSize) {
    const [hostAddress, nodeAddress] = [`${labNetwork}.${first + 1}`, `${labNetwork}.${first + 2}`];
    if (!takenAddresses.includes(hostAddress) && !takenAddresses.includes(nodeAddress)) {
      return { hostAddress, nodeAddress };
    }
  }
  throw new LabError(`All addresses of ${labNetwork}.0/24 are taken; end a lab first.`);
}

/** Makes the cable, gives both ends an address and makes ClusterIPs routable inside. */
export async function connectNetwork(namespaces: Namespaces, linkName: string): Promise<LabAddresses> {
  const addresses = await exclusively(
    'lab addresses',
    () => {},
    () => connectHostEnd(namespaces, linkName),
  );
  const { nodeAddress } = addresses;
  const script = [
    'set -e',
    'ip link set lo up',
    `ip address add ${nodeAddress}/30 dev eth0`,
    'ip link set eth0 up',
    // Without some route a process of the node cannot reach a ClusterIP: the route is looked up before the
    // address is rewritten.
    `ip route replace ${serviceCidr} dev lo src ${nodeAddress}`,
    'echo 1 > /proc/sys/net/ipv4/ip_forward',
  ];
  await runInside(namespaces, 'sh', '-c', script.join('\n'));
  return addresses;
}

async function connectHostEnd({ init }: Namespaces, linkName: string): Promise<LabAddresses> {
  const addresses = freeBlock(await readHostAddresses());
  const peer = ['peer', 'name', 'eth0', 'netns', String(init.pid)];
  await runCommand('ip', ['link', 'add', linkName, 'type', 'veth', ...peer]);
  await runCommand('ip', ['address', 'add', `${addresses.hostAddress}/30`, 'dev', linkName]);
  await runCommand('ip', ['link', 'set', linkName, 'up']);
  return addresses;
}

async function readHostAddresses(): Promise<readonly string[]> {
  const printed = await runCommand('ip', ['-o', '-4', 'address', 'show']);
  return [...printed.matchAll(/inet ([0-9.]+)/g)].map(([, address = '']) => address);
}

/** Removes the cable if it is still there. */
export async function disconnectNetwork(linkName: string): Promise<void> {
  if (!(await hasLink(linkName))) return;
  try {
    await runCommand('ip', ['link', 'delete', linkName]);
  } catch (error) {
    // It also goes by itself with the other end, which may be just now.
    if (await hasLink(linkName)) throw error;
  }
}

/** Whether the host has a link of this name. */
export async function hasLink(linkName: string): Promise<boolean> {
  const printed = await runCommand('ip', ['-o', 'link', 'show']);
  return printed.includes(` ${linkName}@`) || printed.includes(` ${linkName}:`);
}
