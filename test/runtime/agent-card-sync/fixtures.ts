/** Workloads and AgentCards as the discovery of agents meets them. */

import assert from 'node:assert/strict';
import type { Facts, Observed } from '../../../runtime/agent-card-sync/observed.ts';
import type { AgentCard } from '../../../runtime/api/agent-card.ts';
import { apiVersion, labels, managedBy } from '../../../runtime/api/names.ts';
import type { KubeObject, ObjectMeta } from '../../../runtime/engine/types.ts';
import { rowOf, type WorkloadRow } from '../../../runtime/workload/kinds.ts';
import { type Workload, workloadOf } from '../../../runtime/workload/workload.ts';

export const protocol = `${labels.protocolPrefix}a2a`;
export const agentLabels = { [labels.type]: 'agent', [protocol]: '' };

export function row(kind = 'Deployment'): WorkloadRow {
  const found = rowOf({ apiVersion: 'apps/v1', kind });
  assert.ok(found !== undefined);
  return found;
}

export function workloadObject(metadata: ObjectMeta = {}, kind = 'Deployment'): KubeObject {
  return {
    apiVersion: 'apps/v1',
    kind,
    metadata: { namespace: 'team1', name: 'weather', uid: 'uid-weather', labels: agentLabels, ...metadata },
  };
}

export function workload(metadata: ObjectMeta = {}, kind = 'Deployment'): Workload {
  return workloadOf(row(kind), workloadObject(metadata, kind));
}

/** What a generated card says of its owner. */
export const owner = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  name: 'weather',
  uid: 'uid-weather',
  controller: true,
  blockOwnerDeletion: false,
} as const;

/** The card that was generated for `workload()`. */
export function generated(metadata: ObjectMeta = {}): AgentCard {
  return card({
    name: 'weather-deployment-card',
    labels: { [labels.managedBy]: managedBy },
    ownerReferences: [owner],
    ...metadata,
  });
}

/** A card made by hand, for `workload()` unless it says otherwise. */
export function card(metadata: ObjectMeta = {}, spec: Partial<AgentCard['spec']> = {}): AgentCard {
  const { name = 'mine' } = metadata;
  return {
    apiVersion,
    kind: 'AgentCard',
    metadata: { namespace: 'team1', name, uid: `uid-${name}`, resourceVersion: '7', ...metadata },
    spec: { targetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'weather' }, ...spec },
  };
}

/** An agent's facts; its cards are found by target and by name. */
export function facts(cards: readonly AgentCard[] = [], more: Partial<Facts> = {}): Facts {
  const named = cards.find(({ metadata }) => metadata.name === 'weather-deployment-card');
  const ofIt = cards.filter(({ spec }) => spec.targetRef.kind === 'Deployment' && spec.targetRef.name === 'weather');
  return { workload: workload(), isTerminating: false, cards: ofIt, named, ...more };
}

export function observed(cards: readonly AgentCard[] = [], more: Partial<Observed> = {}): Observed {
  return { ...facts(cards), appliedOverBy: undefined, ...more };
}
