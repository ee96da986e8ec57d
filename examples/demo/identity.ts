/** The identity of a pod as its Envoy holds it, and how it is replaced while the pod runs. */

import type { Pod } from '../../runtime/api/kubernetes.ts';
import { type CallTelling, show } from './calls.ts';
import { type Cluster, DemoFailure, until } from './cluster.ts';
import { certificates } from './programs.ts';
import { agentId, namespace } from './team3.ts';

async function currentPod(cluster: Cluster, name: string): Promise<string> {
  const selector = `app.kubernetes.io/name=${name}`;
  const { items } = await cluster.get<{ readonly items: readonly Pod[] }>(['pods', '-n', namespace, '-l', selector]);
  const [pod, ...more] = items.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  if (pod?.metadata.name === undefined || more.length > 0) throw new DemoFailure(`${name} has not exactly one pod`);
  return pod.metadata.name;
}

/** The pod's SVID as its Envoy holds it. */
export interface HeldSvid {
  readonly pod: string;
  readonly spiffeId: string;
  readonly serial: string;
  readonly until: string;
}

interface CertificatesPage {
  readonly certificates: readonly {
    readonly cert_chain?: readonly {
      readonly serial_number: string;
      readonly expiration_time: string;
      readonly subject_alt_names?: readonly { readonly uri?: string }[];
    }[];
  }[];
}

async function heldSvid(cluster: Cluster): Promise<HeldSvid | undefined> {
  const pod = await currentPod(cluster, 'assistant');
  const asking = ['exec', '-n', namespace, pod, '-c', 'agent', '--', '/usr/bin/node', '-e', certificates];
  const page = JSON.parse(await cluster.kubectl(asking)) as CertificatesPage;
  const [leaf] = page.certificates.flatMap(({ cert_chain: [first] = [] }) => (first === undefined ? [] : [first]));
  const spiffeId = leaf?.subject_alt_names?.[0]?.uri;
  if (leaf === undefined || spiffeId === undefined) return undefined;
  return { pod, spiffeId, serial: leaf.serial_number, until: leaf.expiration_time };
}

const shownSvid = ({ spiffeId, serial, until: end }: HeldSvid) => `${spiffeId}\nserial ${serial}, good until ${end}`;

/** Shows the identity that the assistant's pod holds now. */
export async function tellIdentity({ cluster, tell }: CallTelling): Promise<HeldSvid> {
  tell.step('The pod’s identity: an X.509-SVID that SPIRE gave the sidecar, as Envoy holds it');
  const held = await until('Envoy to hold the SVID', () => heldSvid(cluster));
  tell.show(shownSvid(held));
  const id = `spiffe://lab.local/ns/${namespace}/sa/assistant`;
  if (held.spiffeId !== id) throw new DemoFailure(`the identity was to be ${id}`);
  return held;
}

/** Shows that the identity has been replaced since `before` in the same pod, which answers as ever. */
export async function tellRotation(telling: CallTelling, before: HeldSvid): Promise<void> {
  const { cluster, tell, beside } = telling;
  tell.step('Meanwhile the identity has been replaced, and nothing was restarted');
  const held = await until('another SVID', async () => {
    const now = await heldSvid(cluster);
    return now === undefined || now.serial === before.serial ? undefined : now;
  });
  tell.show(`${shownSvid(before)}\n${shownSvid(held)}`);
  if (held.pod !== before.pod) throw new DemoFailure('the pod of the assistant was replaced');
  const token = await beside.provider.userToken(agentId);
  await show(telling, { path: '/ask', token, named: 'TOKEN', status: 200, says: /"status":200/ });
}
