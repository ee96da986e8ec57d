/** Changed object, old and new → the AgentCards whose network it concerns. A change of nothing that is read concerns none. */

import type { AgentCard } from '../api/agent-card.ts';
import type { ConfigMap, NetworkPolicy } from '../api/kubernetes.ts';
import type { ConfigWatches } from '../config/read.ts';
import type { Change, KubeObject, ObjectKey, Reader, Trigger } from '../engine/types.ts';
import { isNewData, keyOf, namespaceOf, trigger } from '../workload/trigger.ts';
import { agentCards, everyCard } from '../workload/cards.ts';
import { type WorkloadRow, workloadRows } from '../workload/kinds.ts';
import { controllingCard } from './ownership.ts';
import { cardsForPolicy, cardsOfName } from './policy-name.ts';
import { networkPolicies } from './watch.ts';

/** All of the controller's triggers. */
export function triggers(config: ConfigWatches): readonly Trigger[] {
  const ofPlatform = (change: Change<ConfigMap>, reader: Reader) => (isNewData(change) ? everyCard(reader) : []);
  return [
    trigger(agentCards, siblings),
    trigger(networkPolicies, ofPolicy),
    trigger(config.platform, ofPlatform),
    trigger(config.gates, ofPlatform),
    trigger(config.defaults, (change, reader) => (isNewData(change) ? everyCard(reader, namespaceOf(change)) : [])),
    ...workloadRows.map((row) => trigger(row.watch, (change, reader) => ofWorkload(row, change, reader))),
  ];
}

/** A card that is gone is forgotten, and nobody is woken. */
export function goneTrigger(forget: (card: AgentCard) => void): Trigger {
  return trigger(agentCards, ({ old, now }) => {
    if (old !== undefined && old.metadata.uid !== now?.metadata.uid) forget(old);
    return [];
  });
}

/** Other cards of the same workload, one of which counts, and of workloads of the same name, one of which has the plain name. */
function siblings(change: Change<AgentCard>, reader: Reader): readonly ObjectKey[] {
  const { old, now } = change;
  if (standing(old) === standing(now)) return [];
  const names = new Set([old, now].flatMap((card) => (card?.spec?.targetRef ? [card.spec.targetRef.name] : [])));
  return [...names].flatMap((name) =>
    cardsOfName(reader, namespaceOf(change), name)
      .filter(({ metadata }) => metadata.name !== (now ?? old)?.metadata.name)
      .map(keyOf),
  );
}

/** What other cards look at in this one. */
function standing(card: AgentCard | undefined): string {
  if (card === undefined) return '';
  const { uid, deletionTimestamp, labels } = card.metadata;
  return text([uid, deletionTimestamp, labels, card.spec]);
}

/** Whoever has it or wants its name: ours was changed or deleted, or another's came or went. */
function ofPolicy(change: Change<NetworkPolicy>, reader: Reader): readonly ObjectKey[] {
  const { old, now } = change;
  if (text(readOf(old)) === text(readOf(now))) return [];
  const namespace = namespaceOf(change);
  const owners = [old, now].flatMap((policy) => {
    const card = policy === undefined ? undefined : controllingCard(policy);
    return card === undefined ? [] : [{ namespace, name: card.name }];
  });
  const wanting = cardsForPolicy(reader, namespace, (now ?? old)?.metadata.name ?? '').map(keyOf);
  return [...new Map([...owners, ...wanting].map((key) => [key.name, key])).values()];
}

function readOf(policy: NetworkPolicy | undefined): unknown {
  if (policy === undefined) return undefined;
  const { uid, deletionTimestamp, labels, annotations, ownerReferences } = policy.metadata;
  return [uid, deletionTimestamp, labels, annotations, ownerReferences, policy.spec];
}

/** Of a workload only who it is, which pods it selects and whose network they use are looked at. */
function ofWorkload(row: WorkloadRow, change: Change, reader: Reader): readonly ObjectKey[] {
  const { old, now } = change;
  const name = (now ?? old)?.metadata.name;
  if (name === undefined || seenOfWorkload(row, old) === seenOfWorkload(row, now)) return [];
  const index = { name: 'target', value: `${row.group}/${row.kind}/${name}` };
  return reader.list(agentCards, { namespace: namespaceOf(change), index }).map(keyOf);
}

function seenOfWorkload(row: WorkloadRow, object: KubeObject | undefined): string {
  if (object === undefined) return '';
  const { spec } = object as { readonly spec?: { readonly selector?: unknown } };
  return text([object.metadata.uid, spec?.selector, row.template(object)?.spec?.hostNetwork]);
}

const text = (value: unknown): string => JSON.stringify(value) ?? '';
