// A SPIRE beside a lab with a node, for what runs in its pods.
import type { SpireOptions } from './spire-files.ts';
import { type Spire, startSpire } from './spire.ts';

/** Where pods find it, as the platform's configuration has it. */
export interface SpiffePlace {
  readonly trustDomain: string;
  readonly socketPath: string;
  readonly volume: 'hostPath';
}

/** An agent, and the group by which SPIRE knows it. */
export interface KnownPod {
  readonly namespace: string;
  readonly account: string;
  /** One of the `supplementalGroups`, or the `fsGroup`, of its pods, and of no others. */
  readonly group: number;
}

export interface LabSpire extends Spire {
  readonly place: SpiffePlace;
  /** Gives pods the SVID of their account; resolves to its SPIFFE ID. The agent hears of it within a second or two. */
  createPodEntry(pod: KnownPod): Promise<string>;
}

/**
 * Starts it; it ends with `stop()` or with the process that started it. What attests pods by namespace and account is left out of this build, for it
 * brings most of what SPIRE is compiled from: so a pod is known by a group, which the kernel tells of every process of its containers.
 */
export async function startLabSpire(options: Omit<SpireOptions, 'isOpen'>): Promise<LabSpire> {
  const spire = await startSpire({ ...options, isOpen: true });
  const { trustDomain, socketPath } = spire;
  return {
    ...spire,
    place: { trustDomain, socketPath: `unix://${socketPath}`, volume: 'hostPath' },
    createPodEntry: async ({ namespace, account, group }) => {
      const id = `spiffe://${trustDomain}/ns/${namespace}/sa/${account}`;
      await spire.createEntry(id, [`unix:supplementary_gid:${group}`]);
      return id;
    },
  };
}
