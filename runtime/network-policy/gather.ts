/** Gathers the pods that outlive the workload of an AgentCard which is being deleted, and that its policy kept closed. */

import type { AgentCard } from '../api/agent-card.ts';
import { kinds } from '../api/kinds.ts';
import type { LabelSelector, Pod } from '../api/kubernetes.ts';
import type { TargetRef } from '../api/target-ref.ts';
import { mergeLayers } from '../config/merge.ts';
import type { Gathering, KubeObject, LiveReader, Reader } from '../engine/types.ts';
import { lookUpTarget } from '../workload/find.ts';
import { rowOf } from '../workload/kinds.ts';
import { selectorOf, selects } from '../workload/selector.ts';
import { namespaces } from '../workload/watches.ts';
import type { Outlived } from './leftover.ts';
import type { Observing } from './observe.ts';
import { conditionType } from './outcome.ts';
import { selectorText } from './selector-text.ts';
import { networkPolicies } from './watch.ts';

/**
 * None while the workload is there to stay: its network is then open like that of any workload without a card. Asks the API server, twice at
 * most, where the card had a policy: the cache may be behind the garbage collector, which deletes the card right after its workload.
 */
export async function gatherOutlived(
  card: AgentCard,
  { reader, live }: Gathering,
  by: Omit<Observing, 'isAudit'>,
): Promise<readonly Outlived[]> {
  const { namespace = '', deletionTimestamp } = card.metadata;
  const finding = card.status?.conditions?.find(({ type }) => type === conditionType);
  if (deletionTimestamp === undefined || finding === undefined || isEnding(reader, namespace)) return [];
  const selectors = selectorsOf(card, reader, finding.status === 'True');
  if (selectors.length === 0 || (await isStaying(card, reader, live))) return [];
  const settings = mergeLayers(by.layers.lastGood(reader, namespace)).config.networkPolicy;
  const surroundings = { operatorNamespace: by.operatorNamespace, settings };
  const outlived: Outlived[] = [];
  for (const podSelector of selectors) {
    const found = await live.list(kinds.pod, { namespace, labels: selectorText(podSelector) });
    const pods = found.filter((pod) => isOutliving(pod, podSelector, deletionTimestamp));
    const owners = isForeground(card, reader) ? going(pods) : pods;
    if (owners.length > 0) outlived.push({ card, podSelector, pods: owners, surroundings });
  }
  return outlived;
}

/** The namespace takes its pods along, and nothing can be created in it. */
function isEnding(reader: Reader, name: string): boolean {
  return reader.get(namespaces, { name })?.metadata.deletionTimestamp !== undefined;
}

/** A deletion in the foreground takes the policy before the card: the workload, which is there until the end, says what it selected. */
function selectorsOf(card: AgentCard, reader: Reader, wasWritten: boolean): readonly LabelSelector[] {
  const { namespace = '', uid = '' } = card.metadata;
  const own = reader.list(networkPolicies, { namespace, index: { name: 'card', value: uid } });
  if (own.length > 0) return own.flatMap(({ spec }) => spec?.podSelector ?? []);
  const target = wasWritten ? lookUpTarget(reader, namespace, card.spec.targetRef) : undefined;
  return target !== undefined && 'found' in target ? [selectorOf(target.found)] : [];
}

const foreground = 'foregroundDeletion';

/** The workload is deleted with its pods before it, each of them with what it owns before that. */
function isForeground(card: AgentCard, reader: Reader): boolean {
  const target = lookUpTarget(reader, card.metadata.namespace ?? '', card.spec.targetRef);
  return 'found' in target && target.found.object.metadata.finalizers?.includes(foreground) === true;
}

/**
 * Then the collector would take the policy of a pod whose deletion it has not asked for yet, and leaves that of one that is going. It asks for
 * all of them at once: while it has asked for none, this throws, to be tried again.
 */
function going(pods: readonly Pod[]): readonly Pod[] {
  const deleted = pods.filter(({ metadata }) => metadata.deletionTimestamp !== undefined);
  if (pods.length > 0 && deleted.length === 0) throw new Error('the pods of the workload are not being deleted yet');
  return deleted;
}

async function isStaying(card: AgentCard, reader: Reader, live: LiveReader): Promise<boolean> {
  const { namespace = '' } = card.metadata;
  const { targetRef: ref } = card.spec;
  const row = rowOf(ref);
  const cached = row && reader.get(row.watch, { namespace, name: ref.name });
  if (row === undefined || !stays(cached, card, ref)) return false;
  const found = await live.list(row.watch.kind, { namespace, fields: `metadata.name=${ref.name}` });
  return found.some((object) => object.metadata.name === ref.name && stays(object, card, ref));
}

/** The workload that the card was made for, not one that came after it. */
function stays(object: KubeObject | undefined, { metadata }: AgentCard, { kind, name }: TargetRef): boolean {
  if (object === undefined || object.metadata.deletionTimestamp !== undefined) return false;
  const owner = metadata.ownerReferences?.find((each) => each.kind === kind && each.name === name);
  return owner === undefined || owner.uid === object.metadata.uid;
}

/** Pods that are made later are another workload's. Of one that is being deleted the phase is not believed: others than its kubelet set it. */
function isOutliving({ metadata, status }: Pod, selector: LabelSelector, until: string): boolean {
  const { creationTimestamp = '', deletionTimestamp, labels = {} } = metadata;
  const hasEnded = deletionTimestamp === undefined && (status?.phase === 'Succeeded' || status?.phase === 'Failed');
  return !hasEnded && creationTimestamp <= until && selects(selector, labels);
}
