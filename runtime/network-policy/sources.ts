/** The metric that is counted from the cards while the controller works. */

import { agentCardReasons } from '../api/conditions.ts';
import type { Metrics, Reader, Source } from '../engine/types.ts';
import { agentCards } from '../workload/cards.ts';
import { conditionType } from './outcome.ts';

/** `rossoctl_network_policies`: AgentCards by how their network stands; exposed by the replica that works. */
export function countingSource(metrics: Pick<Metrics, 'gauge'>): Source {
  const reasons: readonly string[] = agentCardReasons[conditionType];
  let reader: Reader | undefined;
  metrics.gauge<'reason'>({
    name: 'rossoctl_network_policies',
    help: 'AgentCards by the reason of their condition NetworkPolicyReady.',
    labels: ['reason'],
    collect: (gauge) => {
      const counts = reader === undefined ? undefined : countsOf(reader);
      for (const reason of reasons) {
        if (counts === undefined) gauge.remove({ reason });
        else gauge.set({ reason }, counts.get(reason) ?? 0);
      }
    },
  });
  return {
    name: 'network-policy-metrics',
    start: (_, from) => {
      reader = from;
      return () => {
        reader = undefined;
      };
    },
  };
}

function countsOf(reader: Reader): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { status } of reader.list(agentCards)) {
    const reason = status?.conditions?.find(({ type }) => type === conditionType)?.reason;
    if (reason !== undefined) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  }
  return counts;
}
