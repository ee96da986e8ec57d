/** The manager of a process that writes for an install: while it holds the Lease by which the install's writers agree. */

import { install } from '../api/names.ts';
import type { Client } from '../engine/client.ts';
import { createEvents } from '../engine/events.ts';
import { createLeaderElection } from '../engine/leader.ts';
import { createManager, type Manager, type ManagerOptions } from '../engine/manager.ts';

export interface ElectedManagerOptions extends Omit<ManagerOptions, 'events' | 'election'> {
  /** For the Lease alone: its renewals wait behind nothing. */
  readonly leaseClient: Client;
  /** Where the Lease is: the operator's own namespace. */
  readonly namespace: string;
  /** Who writes, on events. */
  readonly name: string;
  /** Who holds the Lease, and no other process ever. */
  readonly identity: string;
  /** Whether it stands for the Lease; else it writes without asking anybody. */
  readonly isElected: boolean;
}

/** A manager without controllers. */
export function createElectedManager(options: ElectedManagerOptions): Manager {
  const { leaseClient, namespace, name, identity, isElected, ...manager } = options;
  const { clock, log, metrics } = manager;
  const lease = { namespace, name: install.lease };
  const events = createEvents({ client: manager.client, clock, log, metrics, instance: name });
  return createManager({
    ...manager,
    events,
    ...(isElected
      ? { election: (on) => createLeaderElection({ ...on, client: leaseClient, clock, log, metrics, lease, identity }) }
      : {}),
  });
}
