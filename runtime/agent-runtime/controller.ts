/** The enrolment controller: AgentRuntimes in, labelled workloads and status out. Wiring only. */

import type { AgentRuntime, AgentRuntimeStatus } from '../api/agent-runtime.ts';
import { fieldManagers, finalizer } from '../api/names.ts';
import type { ConfigWatches, LayerReader } from '../config/read.ts';
import type { Controller, Live, Metrics } from '../engine/types.ts';
import { workloadRows } from '../workload/kinds.ts';
import { fileSources } from '../workload/trigger.ts';
import { agentRuntimes } from '../workload/watches.ts';
import { createConfigurations } from './configuration.ts';
import { decide } from './decide.ts';
import { authBridgeConfigMaps, type Observing, observe } from './observe.ts';
import type { Observed } from './observed.ts';
import { release } from './release.ts';
import { createReversals, type ReversalLimits, reversalLimits } from './reversals.ts';
import { createRollouts } from './rollouts.ts';
import { createSnags, type SnagLimits, snagLimits } from './snags.ts';
import { rolloutSource } from './sources.ts';
import { everyRuntime, triggers } from './triggers.ts';

export interface AgentRuntimeOptions {
  readonly layers: LayerReader;
  readonly watches: ConfigWatches;
  /** The mounted files, by name: a change of one looks at every AgentRuntime again. */
  readonly files: Readonly<Record<string, Live<unknown>>>;
  readonly metrics: Pick<Metrics, 'gauge'>;
  /** The install injects only in namespaces labelled `rossoctl-enabled: "true"`. */
  readonly needsEnabledNamespace: boolean;
  /** Where no workload is ever enrolled. */
  readonly operatorNamespace: string;
  /** Default `reversalLimits`. Tests shorten it. */
  readonly reversals?: ReversalLimits;
  /** Default `snagLimits`. Tests shorten it. */
  readonly snags?: SnagLimits;
  /** Milliseconds of a clock that never goes back. Default: the process's own. */
  readonly monotonicMs?: () => number;
}

/** A pass waits for the API server nearly all of its time. */
const concurrency = 8;

/** Its memory (rollouts, reversals, snags) is its own: one controller a process. */
export function createAgentRuntimeController(
  options: AgentRuntimeOptions,
): Controller<AgentRuntime, Observed, AgentRuntimeStatus> {
  const rollouts = createRollouts();
  const { monotonicMs = () => performance.now(), metrics } = options;
  metrics.gauge({
    name: 'rossoctl_rollout_in_progress',
    help: 'Workloads whose pods are being restarted for a new configuration.',
    collect: (gauge) => gauge.set({}, rollouts.inProgress),
  });
  metrics.gauge({
    name: 'rossoctl_rollout_waiting',
    help: 'Workloads that wait for their turn to restart.',
    collect: (gauge) => gauge.set({}, rollouts.waiting),
  });
  const observing: Observing = {
    layers: options.layers,
    configurationOf: createConfigurations(),
    rollouts,
    reversals: createReversals(options.reversals ?? reversalLimits),
    snags: createSnags(),
    snagLimits: options.snags ?? snagLimits,
    needsEnabledNamespace: options.needsEnabledNamespace,
    operatorNamespace: options.operatorNamespace,
    fieldManager: fieldManagers.agentRuntime,
    monotonicMs,
    bare: bareGauge(metrics),
  };
  return {
    name: 'agentruntime',
    fieldManager: fieldManagers.agentRuntime,
    primary: agentRuntimes,
    optional: workloadRows.map((row) => row.watch),
    triggers: triggers(options.watches, authBridgeConfigMaps),
    sources: [rolloutSource(rollouts, monotonicMs), ...fileSources(options.files, everyRuntime)],
    concurrency,
    wakeOn: 'spec',
    finalizer,
    observe: (runtime, gathering) => observe(runtime, gathering, observing),
    decide,
    release,
  };
}

/** AD-03: pods without sidecars, by workload; a series only where there are any. */
function bareGauge(metrics: AgentRuntimeOptions['metrics']): Observing['bare'] {
  const gauge = metrics.gauge<'namespace' | 'agentruntime'>({
    name: 'rossoctl_pods_without_sidecars',
    help: 'Running pods of an enrolled workload that were not injected though they should have been.',
    labels: ['namespace', 'agentruntime'],
  });
  return ({ namespace = '', name: agentruntime }, count) =>
    count === 0 ? gauge.remove({ namespace, agentruntime }) : gauge.set({ namespace, agentruntime }, count);
}
