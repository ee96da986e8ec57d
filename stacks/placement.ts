/** Which objects of an app must be there before which: what Pulumi waits for, and takes down in reverse. */

import { ApiObject, type App } from 'cdk8s';
import { grouped } from '../constructs/grouped.ts';
import { AgentNamespace, AgentPlatform } from '../constructs/index.ts';
import { apiGroup } from '../runtime/api/names.ts';
import { targetOf, workloadOf } from './targets.ts';
import { type Manifest, groupOf, objectsOf } from './tree.ts';

/** An object in its place. */
export interface Placed {
  readonly manifest: Manifest;
  readonly after: readonly Placed[];
  /** Other installs of the cluster rely on it too (`AgentPlatform.shared`). */
  readonly isShared: boolean;
}

interface Crd {
  readonly spec: { readonly group: string; readonly names: { readonly kind: string } };
}

/**
 * Every object of the app, checked, each behind those it needs: what its construct depends on, its Namespace, its CustomResourceDefinition.
 * The platform comes group by group, webhooks last; custom resources come after all of it, so that they go before the operator, whose work
 * it is to let go of them; and a workload comes after what targets it, for a workload may need what is injected to become ready, and
 * an AgentRuntime can wait for less until its target is there (decision 0020). Throws what the constructs' validations say, and on a circle.
 */
export function placementOf(app: App): readonly Placed[] {
  const manifests = objectsOf(app);
  const needed = needs(manifests);
  const shared = sharedObjects(app);
  const done = new Map<ApiObject, Placed>();
  const open = new Set<ApiObject>();
  const place = (object: ApiObject, manifest: Manifest): Placed => {
    const known = done.get(object);
    if (known !== undefined) return known;
    if (open.has(object)) throw new Error(circle(object));
    open.add(object);
    const after = [...needed(object, manifest)].flatMap((other) => {
      const theirs = manifests.get(other);
      return theirs === undefined || other === object ? [] : [place(other, theirs)];
    });
    open.delete(object);
    const placed = { manifest, after, isShared: shared.has(object) };
    done.set(object, placed);
    return placed;
  };
  for (const [object, manifest] of manifests) place(object, manifest);
  return [...done.values()];
}

function circle({ node }: ApiObject): string {
  const remedy = 'take a dependency away; a workload comes after its AgentRuntime and AgentCard by itself';
  return `[${node.path}] is needed by what it needs: ${remedy}`;
}

function needs(manifests: ReadonlyMap<ApiObject, Manifest>) {
  const targeting = grouped([...manifests], ([, manifest]) => targetOf(manifest));
  const namespaces = new Map<string, ApiObject>();
  const crds = new Map<string, ApiObject>();
  for (const [object, manifest] of manifests) {
    if (manifest.kind === 'Namespace') namespaces.set(manifest.metadata.name, object);
    if (manifest.kind === 'CustomResourceDefinition') crds.set(definedKind(manifest as Manifest & Crd), object);
  }
  const groups = platformGroups(manifests);
  return (object: ApiObject, manifest: Manifest): ReadonlySet<ApiObject> => {
    const crd = crds.get(kindOf(manifest));
    const isOurs = manifest.apiVersion.startsWith(`${apiGroup}/`);
    const wholePlatform = isOurs ? (groups.at(-1)?.objects ?? []) : [];
    const earlier = isPlatform(object) ? before(groups, manifest.kind) : wholePlatform;
    const own = [namespaces.get(manifest.metadata.namespace ?? ''), crd].filter((each) => each !== undefined);
    const ofIt = targeting.get(workloadOf(manifest)) ?? [];
    return new Set([...dependencies(object), ...own, ...earlier, ...ofIt.map(([other]) => other)]);
  };
}

function sharedObjects(app: App): ReadonlySet<ApiObject> {
  const platforms = app.node.findAll().filter((each) => each instanceof AgentPlatform);
  const all = platforms.flatMap(({ shared }) => shared.flatMap(({ node }) => node.findAll()));
  return new Set(all.filter((each) => ApiObject.isApiObject(each)));
}

function dependencies({ node }: ApiObject): readonly ApiObject[] {
  return node.dependencies.flatMap((other) => other.node.findAll().filter((each) => ApiObject.isApiObject(each)));
}

function isPlatform({ node }: ApiObject): boolean {
  return node.scopes.some((scope) => scope instanceof AgentPlatform || scope instanceof AgentNamespace);
}

interface Group {
  readonly name: string;
  readonly objects: readonly ApiObject[];
}

function platformGroups(manifests: ReadonlyMap<ApiObject, Manifest>): readonly Group[] {
  const platform = [...manifests].filter(([object]) => isPlatform(object));
  const byGroup = grouped(platform, ([, { kind }]) => groupOf(kind));
  return [...byGroup]
    .map(([name, members]) => ({ name, objects: members.map(([object]) => object) }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** The nearest group before the one of this kind; what is before that one comes with it. */
function before(groups: readonly Group[], kind: string): readonly ApiObject[] {
  return groups.findLast(({ name }) => name < groupOf(kind))?.objects ?? [];
}

function definedKind({ spec }: Crd): string {
  return `${spec.group}/${spec.names.kind}`;
}

function kindOf({ apiVersion, kind }: Manifest): string {
  return `${apiVersion.split('/')[0] ?? ''}/${kind}`;
}
