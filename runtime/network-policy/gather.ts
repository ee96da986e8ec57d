/** Gathers the pods that outlive the workload of an AgentCard which is being deleted, and that its policy kept closed. */

import { setTimeout } from 'node:timers/promises';
import type { AgentCard } from '../api/agent-card.ts';
import { kinds } from '../api/kinds.ts';
import type { LabelSelector, NetworkPolicy, Pod } from '../api/kubernetes.ts';
import { operatorPodLabels } from '../api/names.ts';
import type { TargetRef } from '../api/target-ref.ts';
import { mergeLayers } from '../config/merge.ts';
import { canonicalJson } from '../encoding/canonical-json.ts';
import type { Gathering, Reader } from '../engine/types.ts';
import { isEverything, selects } from '../workload/selector.ts';
import { namespaces } from '../workload/watches.ts';
import { type Former, foreground, readFormer } from './former.ts';
import type { Outlived } from './leftover.ts';
import { awaitedOf, type Observing } from './observe.ts';
import { conditionType, type Reason } from './outcome.ts';
import { selectorText } from './selector-text.ts';
import { type Sorted, sortPods } from './strangers.ts';
import { networkPolicies } from './watch.ts';

export interface Leavetaking extends Omit<Observing, 'isAudit' | 'verdicts' | 'marked'> {
  /** The wall clock. Default: the machine's. */
  readonly now?: () => Date;
  /** Resolves after so many milliseconds. Default: by the machine's clock. */
  readonly pause?: (ms: number, signal: AbortSignal) => Promise<unknown>;
}

/**
 * None while the workload is there to stay: its network is then open like that of any workload without a card. Asks the API server where the
 * card had a policy: for the workload, for its pods, and for the ReplicaSets of those that are not being deleted.
 */
export async function gatherOutlived(
  card: AgentCard,
  gathering: Gathering,
  by: Leavetaking,
): Promise<readonly Outlived[]> {
  const { reader } = gathering;
  const { namespace = '', deletionTimestamp } = card.metadata;
  const ref = (card as Partial<AgentCard>).spec?.targetRef as TargetRef | undefined;
  if (deletionTimestamp === undefined || ref === undefined || isEnding(reader, namespace)) return [];
  const own = ownOf(card, reader);
  if (own.length === 0 && !hadPolicy(card)) return [];
  const former = await readFormer(card, ref, gathering);
  if (former.isStaying) {
    await handOver({ card, gathering, by });
    return [];
  }
  const settings = mergeLayers(by.layers.lastGood(reader, namespace)).config.networkPolicy;
  const surroundings = { operatorNamespace: by.operatorNamespace, settings };
  const outlived: Outlived[] = [];
  for (const podSelector of selectorsOf(own, former)) {
    const { outliving: pods, strangers } = await settledPods(podSelector, former, { card, gathering, by });
    if (pods.length > 0) outlived.push({ card, podSelector, pods, strangers, surroundings });
  }
  return outlived;
}

function ownOf({ metadata }: AgentCard, reader: Reader): readonly NetworkPolicy[] {
  const { namespace, uid = '' } = metadata;
  return reader.list(networkPolicies, { namespace, index: { name: 'card', value: uid } });
}

/** The namespace takes its pods along, and nothing can be created in it. */
function isEnding(reader: Reader, name: string): boolean {
  return reader.get(namespaces, { name })?.metadata.deletionTimestamp !== undefined;
}

/** Under these a policy of the card is there; under any other it never was, is withdrawn, or another's. */
const enforcing: ReadonlySet<string> = new Set([
  'Permissive',
  'Restrictive',
  'ConfigInvalid',
  'HostNetwork',
] satisfies readonly Reason[]);

/** A deletion in the foreground takes the policy before the card; what the card said of it is left. */
function hadPolicy({ status }: AgentCard): boolean {
  const finding = status?.conditions?.find(({ type }) => type === conditionType);
  return finding !== undefined && enforcing.has(finding.reason);
}

/** What the policies select, and what the workload did: somebody may have written another selector on a policy. None selects everything. */
function selectorsOf(own: readonly NetworkPolicy[], { selectors }: Former): readonly LabelSelector[] {
  const all = [...selectors, ...own.flatMap(({ spec }) => spec?.podSelector ?? [])];
  return [...new Map(all.filter((each) => !isEverything(each)).map((each) => [canonicalJson(each), each])).values()];
}

interface Around {
  readonly card: AgentCard;
  readonly gathering: Gathering;
  readonly by: Leavetaking;
}

/** The collector would take the policy along before the card that is next for this workload has taken it over, and open its pods until then. */
async function handOver(around: Around): Promise<void> {
  const { card, gathering } = around;
  await patiently(around, 'another card has not taken over the policy of this one yet', () => {
    const awaited = awaitedOf(ownOf(card, gathering.reader), card, gathering.reader);
    return Promise.resolve({ seen: awaited, isSettled: awaited.length === 0 });
  });
}

/**
 * In a foreground deletion the collector takes along what a pod owns whose deletion it asks for, and leaves what is made for one that is going
 * already. So all of them must be going before they own anything. Whoever is not going in time owns it like the others.
 */
function settledPods(selector: LabelSelector, former: Former, around: Around): Promise<Sorted> {
  const { card, gathering, by } = around;
  const { namespace = '' } = card.metadata;
  return patiently(around, 'the pods of the workload are not all being deleted yet', async () => {
    const found = await podsOf(namespace, selector, gathering);
    const isOperator = namespace === by.operatorNamespace && catchesOperator(selector, found);
    const seen = await sortPods(isOperator ? [] : found, former, gathering);
    return { seen, isSettled: !former.isForeground || seen.outliving.every(isGoing) };
  });
}

/** Longer than a busy collector takes to ask for all pods of a workload, and than another card's next pass. */
const patienceMs = 30_000;
const looks = 4;
const lookMs = 250;

interface Look<T> {
  readonly seen: T;
  readonly isSettled: boolean;
}

/** Looks a few times and then throws, to be tried again; half a minute after the card's deletion whatever is seen has to do. */
async function patiently<T>({ card, gathering, by }: Around, why: string, look: () => Promise<Look<T>>): Promise<T> {
  const { now = () => new Date(), pause = pauseFor } = by;
  const endMs = Date.parse(card.metadata.deletionTimestamp ?? '') + patienceMs;
  for (let times = 1; ; times += 1) {
    const { seen, isSettled } = await look();
    if (isSettled || !(now().getTime() < endMs)) return seen;
    if (times === looks) throw new Error(why);
    await pause(lookMs, gathering.signal);
  }
}

function pauseFor(ms: number, signal: AbortSignal): Promise<unknown> {
  return setTimeout(ms, undefined, { signal });
}

async function podsOf(namespace: string, selector: LabelSelector, { live }: Gathering): Promise<readonly Pod[]> {
  const found = await live.list(kinds.pod, { namespace, labels: selectorText(selector) });
  return found.filter((pod) => selects(selector, pod.metadata.labels ?? {}) && !hasEnded(pod));
}

/** Of a pod that is being deleted the phase is not believed: others than its kubelet set it. */
function hasEnded({ metadata, status }: Pod): boolean {
  return metadata.deletionTimestamp === undefined && (status?.phase === 'Succeeded' || status?.phase === 'Failed');
}

/** The operator's own pods, those that run and any that comes. */
function catchesOperator(selector: LabelSelector, pods: readonly Pod[]): boolean {
  const isOperator = ({ metadata }: Pod): boolean => selects({ matchLabels: operatorPodLabels }, metadata.labels ?? {});
  return selects(selector, operatorPodLabels) || pods.some(isOperator);
}

function isGoing({ metadata }: Pod): boolean {
  return metadata.deletionTimestamp !== undefined && metadata.finalizers?.includes(foreground) !== true;
}
