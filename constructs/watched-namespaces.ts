/** Which namespaces an install watches: all of them, or a list that may grow until synthesis. */

import { Lazy } from 'cdk8s';

/** Cluster mode watches every namespace; namespaced mode only those listed (environment variable `NAMESPACES2WATCH`). */
export type WatchScope =
  | { readonly kind: 'cluster' }
  | { readonly kind: 'namespaced'; readonly namespaces: readonly string[] };

/** Namespaces no webhook of ours ever looks at, whatever the install says (field report AD-01). */
export const systemNamespaces = ['kube-system', 'kube-public', 'kube-node-lease'] as const;

/** Label that every namespace carries with its own name; the API server sets it. */
export const namespaceNameLabel = 'kubernetes.io/metadata.name';

const namespaceName = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;

/** Throws unless `name` can be the name of a namespace. */
export function checkNamespaceName(name: string): void {
  if (!namespaceName.test(name)) {
    throw new Error(
      `${JSON.stringify(name)} is not a namespace name: use at most 63 lower-case letters, digits and dashes`,
    );
  }
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

  /** Adds a namespace; adding one twice changes nothing. Throws in cluster mode and on a name that cannot be. */
  add(name: string): void {
    if (this.kind === 'cluster') {
      throw new Error(
        `cannot watch ${name} in particular: the platform watches every namespace; set watch: { kind: 'namespaced', namespaces: […] }`,
      );
    }
    checkNamespaceName(name);
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
