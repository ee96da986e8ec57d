/** What the lab's pods need besides the platform: a real Keycloak and a real SPIRE, on this machine, as long as the demo runs. */

import { startLabSpire } from '../../test/lab/spire/lab-spire.ts';
import { readState } from '../../test/lab/state.ts';
import { startProvider } from '../../test/support/identity-provider.ts';
import type { Authority } from '../../test/support/svid.ts';
import type { Beside } from './calls.ts';
import { type Cluster, DemoFailure } from './cluster.ts';
import { users as agents } from '../agents.ts';
import { members, users } from './team3.ts';

export interface Starting {
  readonly lab: string;
  readonly cluster: Cluster;
  /** SPIRE is below it, so that one bundle vouches for all identities. */
  readonly authority: Authority;
}

/** Starts both at once. They end with this process. */
export async function startBeside({ lab, cluster, authority }: Starting): Promise<Beside> {
  const state = readState(lab);
  if (state?.kind !== 'node') throw new DemoFailure(`the lab ${lab} has no node`);
  const { hostAddress } = state;
  const upstream = { certificate: authority.pem, key: authority.keyPem };
  const [spire, provider] = await Promise.all([
    // An SVID is replaced when half of its life is over: while the demo runs.
    startLabSpire({ name: 'demo', trustDomain: 'lab.local', svidTtl: '90s', upstream }),
    startProvider({ hostAddress, apply: (objects) => cluster.apply(objects) }, members),
  ]);
  const pods = [
    { namespace: 'team1', account: 'weather', group: agents.weather },
    { namespace: 'team2', account: 'billing', group: agents.billing },
    { namespace: 'team3', account: 'assistant', group: users.assistant },
    { namespace: 'team3', account: 'tickets', group: users.tickets },
  ];
  // The group of an agent's files is its user.
  await Promise.all(pods.map((pod) => spire.createPodEntry(pod)));
  return { spire, provider, nodeAddress: new URL(state.server).hostname };
}
