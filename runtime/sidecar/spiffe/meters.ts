/** What the metrics tell of the pod's identity. */

import type { Clock } from '../../engine/clock.ts';
import type { Metrics } from '../../engine/types.ts';
import { type SvidReason, svidReasons } from './svid.ts';

export interface IdentityMeters {
  taken(notAfter: number): void;
  refused(reason: SvidReason): void;
  connected(isConnected: boolean): void;
}

/** Every series is there from the start. */
export function identityMeters(metrics: Metrics, clock: Clock): IdentityMeters {
  let end: number | undefined;
  metrics.gauge({
    name: 'rossoctl_sidecar_svid_expiry_seconds',
    help: 'Seconds until the X.509-SVID of this pod ends; negative afterwards, 0 while there has been none.',
    collect: (it) => {
      if (end !== undefined) it.set({}, (end - clock.now().getTime()) / 1000);
    },
  });
  const updates = metrics.counter({
    name: 'rossoctl_sidecar_svid_updates_total',
    help: 'Answers of the SPIRE agent with X.509-SVIDs: taken, or refused for a reason.',
    labels: ['outcome'],
  });
  const connected = metrics.gauge({
    name: 'rossoctl_sidecar_workload_api_connected',
    help: '1 while the SPIRE agent answers, also that it knows no entry for this pod; 0 while it cannot be reached.',
  });
  for (const outcome of ['taken', ...svidReasons]) updates.inc({ outcome }, 0);
  return {
    taken: (notAfter) => {
      end = notAfter;
      updates.inc({ outcome: 'taken' });
    },
    refused: (reason) => updates.inc({ outcome: reason }),
    connected: (isConnected) => connected.set({}, isConnected ? 1 : 0),
  };
}
