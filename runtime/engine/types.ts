/** The words every folder shares with the engine: types only, so that importing this file costs nothing. */

export type { Metrics } from './metrics.ts';

/** Where an object lives. `namespace` is absent for cluster-scoped kinds. */
export interface ObjectKey {
  readonly namespace?: string | undefined;
  readonly name: string;
}

export interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller?: boolean;
  readonly blockOwnerDeletion?: boolean;
}

export interface ObjectMeta {
  readonly name?: string;
  readonly generateName?: string;
  readonly namespace?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly generation?: number;
  readonly creationTimestamp?: string;
  readonly deletionTimestamp?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly finalizers?: readonly string[];
  readonly ownerReferences?: readonly OwnerReference[];
  readonly managedFields?: readonly ManagedFields[];
}

/** Who owns which fields of an object (the API server's record of server-side apply). */
export interface ManagedFields {
  readonly manager?: string;
  readonly operation?: 'Apply' | 'Update';
  readonly subresource?: string;
  readonly time?: string;
  /** Whose members are the fields: `{'f:spec': {'f:replicas': {}}}`. */
  readonly fieldsV1?: unknown;
}

/** Any Kubernetes object as plain JSON. Fields newer than our types stay in it untouched. */
export interface KubeObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: ObjectMeta;
}

/** One Kubernetes kind; carries the type of its objects. Constants live in `api/kinds.ts`. */
export interface Kind<T extends KubeObject = KubeObject> {
  readonly apiVersion: string;
  readonly kind: string;
  readonly plural: string;
  readonly namespaced: boolean;
  /** Its maps that server-side apply replaces as a whole, by the name of their field, besides the built-in ones. Default: none. */
  readonly atomic?: readonly string[] | undefined;
  /** Phantom: never set at run time. */
  readonly object?: T;
}

/** A reference to one object; `uid`, when given, must be the live object's. */
export interface ObjectRef extends ObjectKey {
  readonly kind: Kind;
  readonly uid?: string | undefined;
}

/**
 * One thing the cache holds: a kind, narrowed by namespace, name or labels, and reduced to what is read of it.
 * The constant itself is the handle with which a `Reader` is asked, so two features that pass the same constant share one watch.
 */
export interface Watch<T extends KubeObject = KubeObject> {
  /** Unique, for logs and metrics: `deployments`, `defaults-configmaps`. */
  readonly id: string;
  readonly kind: Kind<T>;
  /** Only this namespace. Default: every namespace the install watches (cluster-scoped kinds: the cluster). */
  readonly namespace?: string;
  /** Only the object of this name (field selector `metadata.name`). */
  readonly name?: string;
  /** Label selector in the API's text form, for example `rossoctl.io/type in (agent,tool)`. */
  readonly labels?: string;
  /** Ask the API server for metadata alone (`PartialObjectMetadata`): `spec` and `status` are then absent. */
  readonly metadataOnly?: boolean;
  /** What is kept of each object. Default: everything but `metadata.managedFields`. Must keep apiVersion, kind, metadata. */
  keep?(object: T): T;
  /** Secondary look-ups: index name → the values under which an object is found. */
  readonly indexes?: Readonly<Record<string, IndexOf<T>>>;
}

/** The values under which an object is found. Typed as a method so that a `Watch<Deployment>` is a `Watch` too. */
export type IndexOf<T extends KubeObject> = { valuesOf(object: T): readonly string[] }['valuesOf'];

/** Where to look in a watch. `index` and `namespace` combine with AND. */
export interface Where {
  readonly namespace?: string | undefined;
  readonly index?: { readonly name: string; readonly value: string };
}

/**
 * The cache: no I/O. Throws `NotSynced` for a watch that has not completed its first list or has never been started; in namespaced mode also
 * for a namespace that is not watched or may not be read. A list without a namespace gives those that can be read.
 */
export interface Reader {
  get<T extends KubeObject>(watch: Watch<T>, key: ObjectKey): T | undefined;
  list<T extends KubeObject>(watch: Watch<T>, where?: Where): readonly T[];
}

/**
 * Reads straight from the API server. `undefined` means 404 and nothing else; every other failure throws. `fields` saves work and decides
 * nothing: an API server that cannot select by them gives all, so whoever asks looks for itself.
 */
export interface LiveReader {
  get<T extends KubeObject>(kind: Kind<T>, key: ObjectKey): Promise<T | undefined>;
  list<T extends KubeObject>(
    kind: Kind<T>,
    where?: { readonly namespace?: string; readonly labels?: string; readonly fields?: string },
  ): Promise<readonly T[]>;
}

/** A partial object for server-side apply: exactly the fields its field manager owns. With `metadata.uid` it can never create. */
export interface Fragment {
  readonly kind: Kind;
  readonly body: KubeObject & Readonly<Record<string, unknown>>;
  /** When it is created: a refusal by admission (403) that says so is no failure, because somebody was faster. */
  readonly lostWhen?: string;
}

/** A JSON merge patch (RFC 7386) on one object; a `null` removes. Guarded by `target.uid`: never lands on a namesake. */
export interface MergePatch {
  readonly target: ObjectRef;
  readonly body: Readonly<Record<string, unknown>>;
  readonly subresource?: 'status';
  /** A namesake in the target's place is no failure: whoever brought it there is seen by itself. */
  readonly mayBeGone?: boolean;
}

/** A Kubernetes event, written only because something happened. */
export interface Notice {
  readonly type: 'Normal' | 'Warning';
  /** CamelCase, from a small fixed set. */
  readonly reason: string;
  /** CamelCase verb: what was being done. */
  readonly action: string;
  readonly note: string;
  /** Default: the controller's primary object. */
  readonly regarding?: ObjectRef;
}

/** Everything a controller may want of the world. Executed in this order; a step that fails stops the rest. */
export interface Plan<S = unknown> {
  /** Made as stated, unless there is an object of that name: then it is left as it is, whoever made it and whatever it says. */
  readonly create?: readonly Fragment[];
  /** Server-side apply with force, under the controller's own field manager. Skipped when the cached object already says so. */
  readonly apply?: readonly Fragment[];
  readonly patch?: readonly MergePatch[];
  readonly remove?: readonly ObjectRef[];
  /** The whole desired status of the primary object; written only when it differs. */
  readonly status?: S;
  readonly notices?: readonly Notice[];
  /** Look again after this long, in milliseconds: only for what time alone changes. */
  readonly afterMs?: number;
}

/** What the API server must allow, and why. RBAC is rendered from these and from nothing else. */
export interface Permission {
  /** `''` is the core group. */
  readonly apiGroup: string;
  readonly resources: readonly string[];
  readonly verbs: readonly Verb[];
  readonly resourceNames?: readonly string[];
  /**
   * `watched`: every namespace the install watches (ClusterRole in cluster mode, one Role per namespace in namespaced mode);
   * `own`: the operator's namespace only; `cluster`: cluster-scoped objects, granted in both modes; a namespace: that one alone.
   */
  readonly scope: 'watched' | 'own' | 'cluster' | { readonly namespace: string };
  /** One sentence for the administrator who reviews the role. */
  readonly why: string;
}
export type Verb = 'get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'delete';

/** A change as the cache saw it; `old` absent: appeared, `now` absent: vanished. */
export interface Change<T extends KubeObject = KubeObject> {
  readonly old?: T | undefined;
  readonly now?: T | undefined;
}

/** Maps a changed object, old and new, to the primary objects it concerns. */
export interface Trigger<T extends KubeObject = KubeObject> {
  readonly watch: Watch<T>;
  affects(change: Change<T>, reader: Reader): readonly ObjectKey[];
}

/** Wakes keys for a reason that is no Kubernetes object (a configuration file, a free rollout slot). Returns its own stop. */
export interface Source {
  readonly name: string;
  start(wake: (key: ObjectKey) => void, reader: Reader): () => void;
}

/** What a controller may read while observing. */
export interface Gathering {
  readonly reader: Reader;
  readonly live: LiveReader;
  /** Aborted when the reconcile's deadline passes or the process stops. */
  readonly signal: AbortSignal;
}

/** One controller: observe (all reading) → decide (pure) → the engine executes the plan. */
export interface Controller<T extends KubeObject = KubeObject, O = unknown, S = unknown> {
  readonly name: string;
  /** Field manager of everything it applies. */
  readonly fieldManager: string;
  readonly primary: Watch<T>;
  /** Watches that must be synced before the first reconcile, besides `primary` and the triggers'. */
  readonly reads?: readonly Watch[];
  /** Those of its watches that it goes without while the API server refuses them (RB-02): reading one throws, all else works. */
  readonly optional?: readonly Watch[];
  /** Those that change no more than a hint in a message: it begins as soon as reading them has failed once, and without them or with what was read before. */
  readonly hints?: readonly Watch[];
  readonly triggers: readonly Trigger[];
  readonly sources?: readonly Source[];
  /** Keys reconciled at once. Default 4. */
  readonly concurrency?: number;
  /** `spec`: a change of status alone (same generation, labels, annotations, finalizers, deletion) does not wake it. */
  readonly wakeOn: 'spec' | 'any';
  /** Present ⇒ the engine keeps this finalizer and calls `release` on deletion. */
  readonly finalizer?: string;
  observe(object: T, gathering: Gathering): Promise<O>;
  decide(observed: O, now: Date): Plan<S>;
  /** Takes back what the object brought about. Without a finalizer it is called only when everything is let go. */
  release?(observed: O): Plan<S>;
}

/** One admission request, already checked to be a v1 AdmissionReview of the expected kind. */
export interface AdmissionRequest<T extends KubeObject = KubeObject> {
  readonly uid: string;
  readonly operation: 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT';
  readonly namespace: string;
  readonly name: string;
  /** Absent on DELETE. */
  readonly object?: T | undefined;
  readonly oldObject?: T | undefined;
  readonly dryRun: boolean;
  readonly user: string;
}

/** The answer to an admission request. `note` and `reason` are sentences for people. */
export type Verdict<T extends KubeObject = KubeObject> =
  | { readonly kind: 'allow'; readonly reason: string; readonly note: string; readonly warnings?: readonly string[] }
  | { readonly kind: 'deny'; readonly reason: string; readonly note: string; readonly warnings?: readonly string[] }
  | {
      readonly kind: 'mutate';
      readonly reason: string;
      readonly note: string;
      /** Shares, by reference, every subtree it did not change with the request's object. */
      readonly object: T;
      readonly warnings?: readonly string[];
    };

/** One admission endpoint. A `review` that throws is answered 500, which `failurePolicy: Fail` turns into a refusal. */
export interface Webhook<T extends KubeObject = KubeObject> {
  readonly name: string;
  /** URL path, starting with `/`. */
  readonly path: string;
  readonly kind: Kind<T>;
  /** The verdict on a request about another kind, which a stale configuration may send. Absent: such a request is malformed. */
  readonly otherKinds?: Verdict<T>;
  review(request: AdmissionRequest<T>): Promise<Verdict<T>>;
}

/** A validated value that reloads and keeps the last good one. */
export interface Live<T> {
  readonly current: T;
  /** Called after each change of `current`; returns its own stop. */
  subscribe(listener: (value: T) => void): () => void;
}

/** Structured log: a constant message plus fields. Never a Secret, a token or a whole object. */
export interface Log {
  debug(message: string, fields?: Readonly<Record<string, unknown>>): void;
  info(message: string, fields?: Readonly<Record<string, unknown>>): void;
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void;
  error(message: string, fields?: Readonly<Record<string, unknown>>): void;
  child(fields: Readonly<Record<string, unknown>>): Log;
}
