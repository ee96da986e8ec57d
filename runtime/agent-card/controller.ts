/** The AgentCard controller: cards in, their documents, verdicts and labels out. Wiring only. */

import type { AgentCard, AgentCardStatus, BindingScope } from '../api/agent-card.ts';
import { fieldManagers, finalizer } from '../api/names.ts';
import type { ConfigWatches, LayerReader } from '../config/read.ts';
import type { Controller, KubeObject, Live, Metrics, Source, Watch } from '../engine/types.ts';
import { agentCards, everyCard } from '../workload/cards.ts';
import { fileSources } from '../workload/trigger.ts';
import type { Verdicts } from '../workload/verdicts.ts';
import { workloadRows } from '../workload/kinds.ts';
import { calmed } from '../workload/calmed.ts';
import { createPutBacks } from '../workload/put-backs.ts';
import { agentRuntimes } from '../workload/watches.ts';
import { assess } from './assess.ts';
import { verifiedPods } from './bearers.ts';
import { own } from './foreign.ts';
import { createKept } from './kept.ts';
import { createKeptSignatures } from './kept-signatures.ts';
import { createAssessments } from './assessments.ts';
import type { Contacts } from './contact.ts';
import { decide } from './decide.ts';
import { countCards, metered, watchBundle } from './metering.ts';
import { type Observing, observe } from './observe.ts';
import type { Observed, Policy } from './observed.ts';
import { release } from './release.ts';
import { createTalks } from './talks.ts';
import { goneTrigger, triggers } from './triggers.ts';
import { type BundlePlace, createBundleReader, trustBundleWatch } from './trust-bundle.ts';
import { createTrustDomains } from './trust-domain.ts';
import { reached } from './verdict.ts';
import { groundTriggers, type Vouching, vouchingOf, withdrawal } from './unvouched.ts';

export interface VerificationOptions extends Policy {
  /** Whose identities may sign. Empty: the platform configuration's `spiffe.trustDomain`. */
  readonly trustDomain: string;
  /** How much of the identity must agree where the card does not say. */
  readonly scope: BindingScope;
  readonly bundle: BundlePlace;
  /** Sync periods without an answer after which a verdict is withdrawn. */
  readonly verdictSyncPeriods: number;
}

export interface AgentCardOptions {
  readonly contacts: Contacts;
  readonly layers: LayerReader;
  readonly watches: ConfigWatches;
  /** The mounted files, by name: a change of one looks at every card again. */
  readonly files: Readonly<Record<string, Live<unknown>>>;
  readonly metrics: Metrics;
  readonly verification: VerificationOptions;
  /** Told of each verdict, for who acts on them. */
  readonly verdicts?: Verdicts | undefined;
  /** The wall clock. Default: the machine's. */
  readonly now?: () => Date;
  /** Milliseconds of a clock that never goes back. Default: the process's own. */
  readonly monotonicMs?: () => number;
}

/** A pass waits for the API server nearly all of its time. */
const concurrency = 8;

/** Its memory (what agents said, what was judged) is its own: one controller a process. */
export function createAgentCardController(options: AgentCardOptions): Controller<AgentCard, Observed, AgentCardStatus> {
  const { verification, metrics, contacts, layers } = options;
  const { now = () => new Date(), monotonicMs = () => performance.now() } = options;
  const { bundle, isRequired, isAudit, profiles, scope, verdictSyncPeriods } = verification;
  const trustDomainOf = createTrustDomains(verification.trustDomain, layers);
  const trustBundle = isRequired ? trustBundleWatch(bundle) : undefined;
  const bundles = trustBundle && createBundleReader(bundle, trustBundle, now);
  const talks = createTalks({ contacts, verdictSyncPeriods, now });
  const kept = createKept();
  const putBacks = createPutBacks();
  const judge = metered(assess, metrics, monotonicMs);
  const assessments = createAssessments(judge);
  const keptSignatures = createKeptSignatures(judge);
  const observing: Observing = {
    policy: { isRequired, isAudit, profiles },
    talks,
    kept,
    keptSignatures,
    assessments,
    installBindingOf: (reader, namespace) => ({ trustDomain: trustDomainOf(reader, namespace), scope }),
    bundleOf: bundles && ((reader) => bundles.read(reader)),
    now,
  };
  const forget = (card: AgentCard): void => {
    const { uid = '' } = card.metadata;
    talks.forget(uid);
    kept.forget(uid);
    keptSignatures.forget(uid);
    putBacks.forget(uid);
    assessments.forget(uid);
    options.verdicts?.forget(card);
  };
  if (bundles !== undefined) watchBundle(metrics, () => bundles.look());
  return {
    name: 'agentcard',
    fieldManager: fieldManagers.agentCard,
    primary: agentCards,
    optional: [...workloadRows.map((row) => row.watch), ...(trustBundle === undefined ? [] : [trustBundle as Watch])],
    hints: [agentRuntimes as Watch],
    triggers: [...triggers({ config: options.watches, trustBundle }), goneTrigger(forget)],
    // A file that changed may name another trust domain.
    sources: [contacts.source, cardCount(metrics), ...fileSources(options.files, everyCard)],
    concurrency,
    // What somebody else writes into a status is put back at once, until it is a fight.
    wakeOn: 'any',
    finalizer,
    observe: (card, gathering) => observe(card, gathering, observing),
    decide: (observed, at) => {
      options.verdicts?.reach(observed.card, reached(observed, at));
      const plan = decide(observed, at);
      if (plan.status !== undefined) kept.say(observed.card, plan.status);
      return calmed(observed.card, plan, { own, putBacks, now: at });
    },
    release: (observed) => {
      options.verdicts?.forget(observed.card);
      return release(observed);
    },
  };
}

/** Beside the cards: no pod keeps the verified label for which no card answers, whoever put it there. */
export function createVerifiedLabelController(): Controller<KubeObject, Vouching> {
  return {
    name: 'verifiedlabel',
    fieldManager: fieldManagers.agentCard,
    primary: verifiedPods,
    optional: workloadRows.map((row) => row.watch),
    triggers: groundTriggers(),
    wakeOn: 'any',
    observe: (pod, { reader }) => Promise.resolve(vouchingOf(pod, reader)),
    decide: withdrawal,
  };
}

/** Wakes nobody: it only shows the metrics where the cards are. */
function cardCount(metrics: Metrics): Source {
  return {
    name: 'card-count',
    start: (_, reader) => {
      let isRunning = true;
      countCards(metrics, () => (isRunning ? reader.list(agentCards) : []));
      return () => {
        isRunning = false;
      };
    },
  };
}
