/** What wakes AgentCards besides Kubernetes objects, and the metric that is counted from them. */

import { agentCardReasons } from '../api/conditions.ts';
import type { Live, Reader, Source } from '../engine/types.ts';
import { agentCards } from '../workload/cards.ts';
import { conditionType } from './outcome.ts';
import { everyCard } from './triggers.ts';

/** A gauge as the engine's registry makes it. */
interface Gauge<L extends string> {
  set(labels: Readonly<Record<L, string>>, value: number): void;
  remove(labels: Readonly<Record<L, string>>): void;
}

/** The part of the metrics registry that is used. */
export interface Gauges {
  gauge<L extends string = never>(spec: {
    readonly name: string;
    readonly help: string;
    readonly labels?: readonly L[];
    readonly collect?: (gauge: Gauge<L>) => void;
  }): Gauge<L>;
}

/** A file that changed may change every policy. */
export function fileSource(name: string, file: Live<unknown>): Source {
  return {
    name,
    start: (wake, reader) => file.subscribe(() => everyCard(reader).forEach((key) => wake(key))),
  };
}

/** `rossoctl_network_policies`: AgentCards by how their network stands; exposed by the replica that works. */
export function countingSource(metrics: Gauges): Source {
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
