/** Manifests to files: one object a file, in folders whose names are the order in which they are applied. */

import { ApiObject, type App, Yaml } from 'cdk8s';
import { grouped } from '../constructs/grouped.ts';
import { operatorPodLabels } from '../runtime/api/names.ts';

/** A Kubernetes object, as synthesized. */
export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
}

/**
 * Kind → the group it is applied in. What refuses or waits for the operator comes after it: first the policy, then the webhooks;
 * whatever has no row is the user's own and comes last, when everything it may need is there.
 */
const groups: Readonly<Record<string, string>> = {
  Namespace: '00-namespaces',
  CustomResourceDefinition: '10-crds',
  ConfigMap: '20-configuration',
  ServiceAccount: '30-rbac',
  ClusterRole: '30-rbac',
  ClusterRoleBinding: '30-rbac',
  Role: '30-rbac',
  RoleBinding: '30-rbac',
  Issuer: '40-operator',
  Certificate: '40-operator',
  Deployment: '40-operator',
  PodDisruptionBudget: '40-operator',
  Service: '50-service',
  ValidatingAdmissionPolicy: '60-policy',
  ValidatingAdmissionPolicyBinding: '60-policy',
  MutatingWebhookConfiguration: '70-webhooks',
  ValidatingWebhookConfiguration: '70-webhooks',
};
const otherGroup = '80-workloads';

/** The folder of a kind of the platform's; by name, folders are in the order in which they are applied. */
export function groupOf(kind: string): string {
  return groups[kind] ?? otherGroup;
}

const nameLabel = 'app.kubernetes.io/name';

/** What the operator's own objects are told by, as a label selector that finds all others. */
export const notOperatorSelector = `${nameLabel}!=${operatorPodLabels[nameLabel]}`;

/** Whether the object is the operator's own, by its name label. */
export function isOperator({ metadata }: Manifest): boolean {
  return metadata.labels?.[nameLabel] === operatorPodLabels[nameLabel];
}

/**
 * The folder of an object. An agent's Deployment is applied together with its AgentRuntime and not before it: it may be in need of what
 * is injected to become ready.
 */
function groupOfObject(manifest: Manifest): string {
  return manifest.kind === 'Deployment' && !isOperator(manifest) ? otherGroup : groupOf(manifest.kind);
}

/** A group as some objects make it up. */
export interface Group {
  readonly name: string;
  /** Its place among all groups, 0 to 99: the two digits of its name. */
  readonly order: number;
  /** Whether it holds what is the user's own. */
  readonly isOther: boolean;
  readonly kinds: readonly string[];
}

/** The groups that these objects are in, first to last. */
export function groupsOf(manifests: readonly Manifest[]): readonly Group[] {
  return [...grouped(manifests, groupOfObject)]
    .map(([name, members]) => ({
      name,
      order: Number(name.slice(0, 2)),
      isOther: name === otherGroup,
      kinds: [...new Set(members.map(({ kind }) => kind))].sort(),
    }))
    .sort((a, b) => a.order - b.order);
}

/** A file of the tree: its path, with `/`, and its text. */
export interface TreeFile {
  readonly path: string;
  readonly text: string;
}

function pathOf(manifest: Manifest): string {
  const { kind, metadata } = manifest;
  const folder = `${groupOfObject(manifest)}/${metadata.namespace ?? '_cluster'}`;
  return `${folder}/${kind.toLowerCase()}-${metadata.name.replaceAll(/[^A-Za-z0-9._-]/g, '_')}.yaml`;
}

/** Metadata of an app that was made from a text: what messages call it. */
export const readFrom = 'rossoctl:read-from';

/**
 * Every object of the app as it is synthesized, once it is checked. Throws what the constructs' validations say: asked once, not once a chart
 * as `Chart.toJson` does. Says first where the app was read from, when it was. Throws too on objects that would share a file.
 */
export function objectsOf(app: App): ReadonlyMap<ApiObject, Manifest> {
  const constructs = app.node.findAll();
  const problems = constructs.flatMap(({ node }) => node.validate().map((problem) => `[${node.path}] ${problem}`));
  if (problems.length > 0) {
    const { data: where } = app.node.metadata.find(({ type }) => type === readFrom) ?? {};
    const place = typeof where === 'string' ? `${where}: ` : '';
    throw new Error(`${place}Validation failed with the following errors:\n  ${problems.join('\n  ')}`);
  }
  const objects = constructs.filter((each) => ApiObject.isApiObject(each));
  const manifests = new Map(objects.map((object) => [object, object.toJson() as Manifest]));
  const doubled = [...grouped([...manifests.values()], pathOf)].find(([, same]) => same.length > 1);
  if (doubled !== undefined)
    throw new Error(`the app has ${doubled[1].length} objects for ${doubled[0]}: give each its own name`);
  return manifests;
}

/** Every object of the app, in the order to apply. Throws what `objectsOf` throws. */
export function manifestsOf(app: App): readonly Manifest[] {
  const byPath = new Map([...objectsOf(app).values()].map((manifest) => [pathOf(manifest), manifest]));
  return [...byPath].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, manifest]) => manifest);
}

/**
 * Of each object only which one it is. Applied by a field manager, it gives up every field that the manager owned: what nobody else owns goes,
 * the rest stays with the others.
 */
export function identitiesOf(manifests: readonly Manifest[]): readonly Manifest[] {
  return manifests.map(({ apiVersion, kind, metadata: { name, namespace } }) => ({
    apiVersion,
    kind,
    metadata: { name, ...(namespace === undefined ? {} : { namespace }) },
  }));
}

/** The objects as one YAML stream, in the order to apply. */
export function streamOf(manifests: readonly Manifest[]): string {
  return Yaml.stringify(...manifests);
}

/**
 * The objects as a tree. Each folder of a group, and the root, has a `Kustomization`. It is named so, not `kustomization.yaml`, because
 * kustomize takes both names while `kubectl apply -R -f` would take the latter for an object and fail.
 */
export function treeOf(manifests: readonly Manifest[]): readonly TreeFile[] {
  const files = manifests.map((manifest) => ({ path: pathOf(manifest), text: Yaml.stringify(manifest) }));
  const byGroup = grouped(files, ({ path }) => path.slice(0, path.indexOf('/')));
  const kustomizations = [...byGroup].map(([group, members]) => ({
    path: `${group}/Kustomization`,
    text: kustomization(members.map(({ path }) => path.slice(group.length + 1))),
  }));
  return [...files, ...kustomizations, { path: 'Kustomization', text: kustomization([...byGroup.keys()]) }];
}

function kustomization(resources: readonly string[]): string {
  return Yaml.stringify({
    apiVersion: 'kustomize.config.k8s.io/v1beta1',
    kind: 'Kustomization',
    // As listed: webhooks last.
    sortOptions: { order: 'fifo' },
    resources,
  });
}
