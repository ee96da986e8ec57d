/** The network policy controller: verdicts on AgentCards in, NetworkPolicies out. Wiring only. */

import type { AgentCard, AgentCardStatus } from '../api/agent-card.ts';
import { fieldManagers } from '../api/names.ts';
import type { ConfigWatches, LayerReader } from '../config/read.ts';
import type { Controller, Live, Log, Metrics, Plan } from '../engine/types.ts';
import { agentCards, everyCard } from '../workload/cards.ts';
import { fileSources } from '../workload/trigger.ts';
import { workloadRows } from '../workload/kinds.ts';
import { calmed } from '../workload/calmed.ts';
import { createPutBacks } from '../workload/put-backs.ts';
import type { Verdicts } from '../workload/verdicts.ts';
import { namespaces } from '../workload/watches.ts';
import { decide, release } from './decide.ts';
import { createMarked } from './marked.ts';
import { observe } from './observe.ts';
import type { Observed } from './observed.ts';
import { conditionType, own } from './outcome.ts';
import { countingSource } from './sources.ts';
import { goneTrigger, triggers } from './triggers.ts';

export interface NetworkPolicyOptions {
  readonly layers: LayerReader;
  readonly watches: ConfigWatches;
  /** The mounted files, by name: a change of one looks at every AgentCard again. */
  readonly files: Readonly<Record<string, Live<unknown>>>;
  readonly metrics: Pick<Metrics, 'gauge'>;
  /** Where the operator's own pods run, which every agent lets in. */
  readonly operatorNamespace: string;
  /** Verdicts are reported and not acted on: policies of ours are removed and none is made. */
  readonly isAudit: boolean;
  /** What the card controller of this process finds out. */
  readonly verdicts: Verdicts;
  /** A line for each change of a network. Default: none. */
  readonly log?: Pick<Log, 'debug'>;
}

/** A pass waits for the API server nearly all of its time. */
const concurrency = 8;

/**
 * One NetworkPolicy a workload with an AgentCard, permissive while the card is verified. It keeps no finalizer: its policies are owned by
 * their card, and go before it only when an install is taken down. Verdicts wake it, and so do changes of status, in which somebody may
 * have written over what it says itself.
 */
export function createNetworkPolicyController(
  options: NetworkPolicyOptions,
): Controller<AgentCard, Observed, AgentCardStatus> {
  const { watches, files, metrics, verdicts } = options;
  const marked = createMarked();
  const putBacks = createPutBacks();
  const observing = { ...options, marked };
  return {
    name: 'networkpolicy',
    fieldManager: fieldManagers.networkPolicy,
    primary: agentCards,
    reads: [namespaces],
    optional: workloadRows.map((row) => row.watch),
    triggers: [
      marked.trigger,
      goneTrigger(({ metadata }) => putBacks.forget(metadata.uid ?? '')),
      ...triggers(watches),
    ],
    sources: [verdicts.source, countingSource(metrics), ...fileSources(files, everyCard)],
    concurrency,
    wakeOn: 'any',
    observe: (card, { reader }) => Promise.resolve(observe(card, reader, observing)),
    decide: (observed, now) => {
      const plan = decide(observed, now);
      tell(options.log, observed.card, plan);
      return calmed(observed.card, plan, { own, putBacks, now });
    },
    release,
  };
}

function tell(log: NetworkPolicyOptions['log'], card: AgentCard, { status }: Plan<AgentCardStatus>): void {
  const [finding] = status?.conditions ?? [];
  const before = card.status?.conditions?.find(({ type }) => type === conditionType)?.reason;
  if (finding === undefined || finding.reason === before) return;
  const { namespace, name } = card.metadata;
  const { reason, message } = finding;
  log?.debug('network policy', { key: { namespace, name }, reason, before, message });
}
