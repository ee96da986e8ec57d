/** The ways in which people, tools and the operator write a workload's label to a test's API server. */

import assert from 'node:assert/strict';
import type { Answer, Json, Kube, Who } from './kube.ts';
import { developer, operator } from './policy-bed.ts';
import { labelled, labelPatch, typeLabel, type Value, type WorkloadKind } from './workloads.ts';

export interface Target {
  readonly kind: WorkloadKind;
  readonly namespace: string;
  readonly name: string;
}

export type Changes = Readonly<Record<string, Value>>;

/** Writes the label at some places of an existing object. */
export type Write = (target: Target, changes: Changes, who: Who) => Promise<Answer>;

export interface Writers {
  /** PUT, server-side apply and merge patch. */
  readonly ways: Readonly<Record<string, Write>>;
  /** A workload as its developer makes it. */
  make(kind: WorkloadKind, namespace: string, name: string): Promise<Target>;
  /** The operator's own write: the label at every place. */
  enrol(target: Target): Promise<void>;
  patch(target: Target, body: Json, who: Who): Promise<Answer>;
  /** Read, change, write back; again when a controller wrote in between, as any client does. */
  replace(target: Target, who: Who, change: (live: Json) => Json): Promise<Answer>;
}

export const urlOf = (kind: WorkloadKind, namespace: string) => kind.collection.replace('NS', namespace);

/** Writers of one label to the API server that `kube` answers with once it has started. */
export function writersTo(kube: () => Kube, label = typeLabel): Writers {
  const urlOfTarget = ({ kind, namespace, name }: Target) => `${urlOf(kind, namespace)}/${name}`;
  const patch: Writers['patch'] = (target, body, who) =>
    kube().request('PATCH', urlOfTarget(target), body, { who, contentType: 'application/merge-patch+json' });
  const replace: Writers['replace'] = async (target, who, change) => {
    for (;;) {
      const live = await kube().request('GET', urlOfTarget(target));
      const answer = await kube().request('PUT', urlOfTarget(target), change(live.body), { who });
      if (answer.code !== 409) return answer;
    }
  };
  return {
    ways: {
      PUT: (target, changes, who) => replace(target, who, (live) => withLabels(target.kind, live, changes, label)),
      'server-side apply': (target, changes, who) => {
        const url = `${urlOfTarget(target)}?fieldManager=gitops&force=true`;
        const body = withLabels(target.kind, target.kind.make(target.name), changes, label);
        return kube().request('PATCH', url, body, { who, contentType: 'application/apply-patch+yaml' });
      },
      'merge patch': (target, changes, who) => patch(target, mergePatch(target.kind, changes, label), who),
    },
    patch,
    replace,
    make: async (kind, namespace, name) => {
      allowed(await kube().request('POST', urlOf(kind, namespace), kind.make(name), { who: developer }));
      return { kind, namespace, name };
    },
    enrol: async (target) => {
      const everywhere = Object.fromEntries(Object.keys(target.kind.places).map((place) => [place, 'agent']));
      allowed(await patch(target, mergePatch(target.kind, everywhere, label), operator));
    },
  };
}

/** A copy of an object with the label at some of its kind's places. */
export function withLabels(kind: WorkloadKind, object: Json, changes: Changes, label = typeLabel): Json {
  return Object.entries(changes).reduce(
    (next, [place, value]) => labelled(next, kind.places[place] ?? [], value, label),
    object,
  );
}

/** The same as a merge patch. */
export function mergePatch(kind: WorkloadKind, changes: Changes, label = typeLabel): Json {
  return Object.entries(changes).reduce<Json>(
    (all, [place, value]) => deepMerge(all, labelPatch(kind.places[place] ?? [], value, label)),
    {},
  );
}

function deepMerge(a: Json, b: Json): Json {
  const both = Object.entries(b).map(([key, value]) => {
    const other = a[key];
    const isNested = typeof value === 'object' && value !== null && typeof other === 'object' && other !== null;
    return [key, isNested ? deepMerge(other as Json, value as Json) : value];
  });
  return { ...a, ...Object.fromEntries(both) };
}

/** Refused by the policy, with a sentence that names the value and what to do. */
export function refused(answer: Answer, value: string, remedy = /AgentRuntime/): void {
  assert.equal(answer.code, 403, answer.message);
  assert.match(answer.message, remedy);
  assert.ok(answer.message.includes(value), `${answer.message} names ${value}`);
}

export function allowed(answer: Answer): void {
  assert.ok(answer.code === 200 || answer.code === 201, `${answer.code} ${answer.message}`);
}
