/** An app as Pulumi resources: one for each object, named by the object alone, in the order that the app asks for. */

import {
  type CustomResourceOptions,
  type ComponentResourceOptions,
  ComponentResource,
  CustomResource,
  getProject,
  getStack,
} from '@pulumi/pulumi';
import type { App } from 'cdk8s';
import { conditions } from './awaited.ts';
import { refuseArgs } from './kubernetes-app-args.ts';
import { type Placed, placementOf } from './placement.ts';
import type { PlatformFacts } from './platform-facts.ts';
import type { Manifest } from './tree.ts';

/** How the objects of an app become resources. */
export interface KubernetesAppArgs {
  /** The app; it is synthesized and checked here. */
  readonly app: App;
  /**
   * Release of the Kubernetes provider.
   * @default that of the installed `@pulumi/kubernetes`
   */
  readonly providerVersion?: string | undefined;
  /**
   * Take over fields of objects that exist already and that another manager owns; else such a conflict is an error.
   * @default false
   */
  readonly adopt?: boolean | undefined;
  /**
   * Wait until workloads run, webhooks can be called and AgentRuntimes are Ready. Not to wait is for clusters without nodes.
   * @default true
   */
  readonly await?: boolean | undefined;
  /**
   * Which workloads the platform injects: of an AgentRuntime of such a type it is waited until every pod runs with its sidecars. The opt-out
   * of a pod template that is in the app is seen by itself.
   * @default agents, as the platform's feature gates are by default
   */
  readonly injects?: PlatformFacts['injects'] | undefined;
}

/**
 * The objects of an app, as its children: type `kubernetes:<apiVersion>:<Kind>`, name `<namespace>/<name>`, so that no change of the
 * program's structure renames a resource. Each waits for those it needs and is deleted before them; what other installs rely on is left in the
 * cluster when the stack goes. What only Pulumi needs to know stands in annotations `pulumi.com/…`, which the plain YAML does not have.
 */
export class KubernetesApp extends ComponentResource {
  /** Of every object, in the order of registration. */
  readonly urns: readonly CustomResource['urn'][];

  /** Throws, before anything is registered, on an argument that is unknown, missing or unfit, and on what synthesis of the app refuses. */
  constructor(name: string, args: KubernetesAppArgs, opts: ComponentResourceOptions = {}) {
    refuseArgs(name, args);
    const all = placementOf(args.app);
    super('rossoctl:stacks:KubernetesApp', name, {}, opts);
    const made = new Map<Placed, KubernetesObject>();
    const conditionOf = conditions(
      all.map(({ manifest }) => manifest),
      args.injects ?? { agent: true, tool: false },
    );
    for (const placed of all) {
      const dependsOn = placed.after.flatMap((other) => made.get(other) ?? []);
      const { manifest, isShared } = placed;
      const options = {
        parent: this,
        dependsOn,
        retainOnDelete: isShared,
        ...(args.providerVersion && { version: args.providerVersion }),
      };
      made.set(placed, new KubernetesObject(annotated(manifest, conditionOf(manifest), args), options));
    }
    this.urns = [...made.values()].map(({ urn }) => urn);
    this.registerOutputs({ objects: made.size });
  }
}

class KubernetesObject extends CustomResource {
  constructor(manifest: Manifest, options: CustomResourceOptions) {
    super(typeOf(manifest), nameOf(manifest), { ...manifest }, options);
  }
}

function typeOf({ apiVersion, kind }: Manifest): string {
  return `kubernetes:${apiVersion.includes('/') ? apiVersion : `core/${apiVersion}`}:${kind}`;
}

function nameOf({ metadata: { namespace, name } }: Manifest): string {
  return namespace === undefined ? name : `${namespace}/${name}`;
}

/** As long as the provider gives a Deployment. */
const timeoutSeconds = '600';

/**
 * One name for all objects of a stack: else the provider makes one up for each resource, and a run after one that was killed would find its own
 * objects in the hands of a stranger. Another stack is another manager, so that two of them cannot share an object unnoticed.
 */
function fieldManager(): string {
  return `pulumi-${getProject()}-${getStack()}`.slice(0, 128);
}

function annotated(
  manifest: Manifest,
  condition: string | undefined,
  { adopt = false, await: waits = true }: KubernetesAppArgs,
): Manifest {
  const hints = {
    'pulumi.com/patchFieldManager': fieldManager(),
    ...(adopt ? { 'pulumi.com/patchForce': 'true' } : {}),
    ...(waits ? {} : { 'pulumi.com/skipAwait': 'true' }),
    ...(waits && condition !== undefined
      ? { 'pulumi.com/waitFor': condition, 'pulumi.com/timeoutSeconds': timeoutSeconds }
      : {}),
  };
  const { metadata } = manifest;
  return { ...manifest, metadata: { ...metadata, annotations: { ...metadata.annotations, ...hints } } };
}
