/** Which namespaces an install watches: all of them, or a list that may grow until synthesis. */

import { Lazy } from 'cdk8s';
import { Type } from 'typebox';
import { install, namespaceNameLabel } from '../runtime/api/names.ts';
import { oneOf } from '../runtime/api/schema.ts';
import { isSystemNamespace, neverInjected } from '../runtime/api/system-namespaces.ts';
import { violationsOf } from '../runtime/config/check.ts';
import type { Violation } from '../runtime/config/violation.ts';
import { NamespaceName } from './prop-schemas.ts';
import { propViolations } from './refusal.ts';

/** Cluster mode watches every namespace; namespaced mode only those listed (environment variable `NAMESPACES2WATCH`). */
export type WatchScope =
  | { readonly kind: 'cluster' }
  | { readonly kind: 'namespaced'; readonly namespaces: readonly string[] };

const Cluster = Type.Object({ kind: oneOf(['cluster', 'namespaced']) });
const Namespaced = Type.Object({ ...Cluster.properties, namespaces: Type.Array(NamespaceName, { maxItems: 4096 }) });

/** What is wrong with the prop `watch` of an install whose operator runs in `own`. */
export function watchViolations(watch: WatchScope, own: string): readonly Violation[] {
  const schema = (watch as { readonly kind?: unknown }).kind === 'namespaced' ? Namespaced : Cluster;
  const found = propViolations(schema, watch);
  if (found.length > 0) return found.map(({ path, message }) => ({ path: `watch.${path}`, message }));
  const names = watch.kind === 'cluster' ? [] : watch.namespaces;
  return names.flatMap((name, index) => agentNamespaceViolations(name, own, `watch.namespaces[${index}]`));
}

/**
 * Why no agent can live in a namespace: its name is none, or the webhooks never look at it. `own` is the operator's, where known.
 * The remedy ends the sentence.
 */
export function agentNamespaceViolations(
  name: string,
  own: string | undefined,
  path: string,
  remedy = 'leave it out',
): readonly Violation[] {
  const [malformed] = violationsOf(Type.Object({ name: NamespaceName }), { name });
  if (malformed !== undefined) return [{ path, message: malformed.message }];
  const never = neverInjected(name, own);
  return never === undefined ? [] : [{ path, message: `${never}: ${remedy}` }];
}

/** Why the operator cannot have this namespace to itself, or nothing. */
export function ownNamespaceViolations(name: string): readonly Violation[] {
  if (!isSystemNamespace(name)) return [];
  const message = `${name} is Kubernetes' own namespace: choose one for the operator alone, for example ${install.namespace}`;
  return [{ path: 'namespace', message }];
}

/** The watched namespaces of one install; collections only grow, reads are copies. */
export class WatchedNamespaces {
  readonly kind: WatchScope['kind'];
  readonly #names = new Set<string>();

  constructor(scope: WatchScope) {
    this.kind = scope.kind;
    if (scope.kind === 'cluster') return;
    for (const name of scope.namespaces) this.add(name);
  }

  /** Adds a namespace of namespaced mode; adding one twice changes nothing. */
  add(name: string): void {
    this.#names.add(name);
  }

  /** Sorted. Empty in cluster mode. */
  get names(): readonly string[] {
    return [...this.#names].sort();
  }

  /** What `make` returns at synthesis, when the list is complete. */
  late<T>(make: (names: readonly string[]) => T): T {
    return Lazy.any({ produce: () => make(this.names) }) as T;
  }

  /** Match expressions that limit a namespace selector to what is watched; none in cluster mode. */
  matchExpressions(names: readonly string[]): readonly Readonly<Record<string, unknown>>[] {
    return this.kind === 'cluster' ? [] : [{ key: namespaceNameLabel, operator: 'In', values: names }];
  }

  /** A namespace selector of exactly what is watched; empty, which matches all, in cluster mode. */
  selector(names: readonly string[]): Readonly<Record<string, unknown>> {
    return this.kind === 'cluster' ? {} : { matchExpressions: this.matchExpressions(names) };
  }
}
