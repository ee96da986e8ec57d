/** The Events of a namespace that controllers of ours told: Kubernetes itself tells of Services, pods and volumes whenever it likes. */

import type { Client } from '../../runtime/engine/client.ts';
import type { Kind, KubeObject } from '../../runtime/engine/types.ts';

export interface Told extends KubeObject {
  readonly reason: string;
  readonly note: string;
  readonly regarding: { readonly name: string };
  readonly reportingController: string;
  /** How often, where that was counted by an older API. */
  readonly deprecatedCount?: number;
}

export const eventKind: Kind<Told> = {
  apiVersion: 'events.k8s.io/v1',
  kind: 'Event',
  plural: 'events',
  namespaced: true,
};

const ours = /^(agentcard|agentruntime|networkpolicy|verifiedlabel)/;

/** In the order of their names. `name`: only those about objects of this name. */
export async function eventsOf(client: Client, namespace: string, name?: string): Promise<readonly Told[]> {
  const { items } = await client.list(eventKind, { namespace });
  return items.filter(
    ({ regarding, reportingController }) =>
      ours.test(reportingController) && (name === undefined || regarding.name === name),
  );
}
