/** The whole platform from one props object: namespace, CRDs, configuration, RBAC, operator, label policy and webhooks. */

import type { ApiObject } from 'cdk8s';
import { Construct } from 'constructs';
import { install } from '../runtime/api/names.ts';
import type { AgentPlatformProps } from './agent-platform-props.ts';
import { CertManagerCertificate } from './certificates.ts';
import { CustomResourceDefinitions } from './crds.ts';
import { OperatorDeployment } from './deployment.ts';
import { DeveloperRoles } from './developer-roles.ts';
import { LabelProtection } from './label-protection.ts';
import { defaultResources } from './operator-pod.ts';
import { operatorPermissions } from './permissions.ts';
import { PlatformConfigMaps } from './platform-config.ts';
import { platformObject } from './platform-objects.ts';
import { OperatorRbac } from './rbac.ts';
import { WatchedNamespaces } from './watched-namespaces.ts';
import { OperatorWebhooks } from './webhooks.ts';

/**
 * Installs the platform. Every name is explicit, so neither moving the construct nor renaming its chart replaces anything
 * (field report CS-02). Dependencies are declared: policy and webhooks come last, after the operator that answers them.
 */
export class AgentPlatform extends Construct {
  /** The operator's namespace. */
  readonly namespace: string;
  readonly serviceAccountName: string;
  readonly deploymentName: string;
  /** The operator's Deployment, for what no prop covers: `platform.deployment.addJsonPatch(…)`. */
  readonly deployment: ApiObject;
  readonly #watched: WatchedNamespaces;
  readonly #rbac: OperatorRbac;

  /**
   * Throws on an image that is empty, on fewer than one replica and on a name that cannot be a namespace. Synthesis fails on
   * namespaced mode without a namespace, and on configuration the operator would refuse.
   */
  constructor(scope: Construct, id: string, props: AgentPlatformProps) {
    super(scope, id);
    check(props);
    this.namespace = props.namespace ?? install.namespace;
    this.serviceAccountName = props.serviceAccountName ?? install.serviceAccount;
    this.deploymentName = props.deploymentName ?? install.deployment;
    this.#watched = new WatchedNamespaces(props.watch ?? { kind: 'cluster' });
    const { namespace, serviceAccountName } = this;
    const watched = this.#watched;

    if (props.createNamespace ?? true) operatorNamespace(this, namespace);
    const crds = new CustomResourceDefinitions(this, 'crds');
    const { config, featureGates } = props;
    const configMaps = new PlatformConfigMaps(this, 'config', { namespace, config, featureGates });
    const permissions = operatorPermissions;
    this.#rbac = new OperatorRbac(this, 'rbac', { namespace, serviceAccountName, watched, permissions });
    if (watched.kind === 'cluster') new DeveloperRoles(this, 'developer-roles');
    const operator = this.#operator(props);
    operator.node.addDependency(crds, configMaps, this.#rbac);
    this.deployment = operator.deployment;
    const policy = new LabelProtection(this, 'label-protection', { namespace, serviceAccountName, watched });
    this.#webhooks(props).node.addDependency(operator, policy);
    policy.node.addDependency(operator);
    this.node.addValidation({ validate: () => nothingWatched(watched) });
  }

  /**
   * Watches one more namespace: the operator gets its Role there, and webhooks and policy cover it. Twice changes nothing.
   * Throws in cluster mode, where every namespace is watched, and on a name that cannot be a namespace.
   */
  watchNamespace(name: string): void {
    this.#watched.add(name);
    this.#rbac.addNamespace(name);
  }

  /** The watched namespaces, sorted; empty in cluster mode, where all are. */
  get watchedNamespaces(): readonly string[] {
    return this.#watched.names;
  }

  #operator(props: AgentPlatformProps): OperatorDeployment {
    const { qps, burst } = props.apiRequests ?? {};
    return new OperatorDeployment(this, 'operator', {
      namespace: this.namespace,
      deploymentName: this.deploymentName,
      serviceAccountName: this.serviceAccountName,
      watched: this.#watched,
      image: props.image,
      imagePullPolicy: props.imagePullPolicy ?? 'IfNotPresent',
      imagePullSecrets: props.imagePullSecrets ?? [],
      replicas: props.replicas ?? 2,
      resources: props.resources ?? defaultResources,
      priorityClassName: props.priorityClassName,
      certificates: props.certificates ?? 'self-managed',
      flags: {
        ...(props.logLevel === undefined ? {} : { 'log-level': props.logLevel }),
        ...(qps === undefined ? {} : { 'kube-api-qps': qps }),
        ...(burst === undefined ? {} : { 'kube-api-burst': burst }),
      },
    });
  }

  #webhooks(props: AgentPlatformProps): OperatorWebhooks {
    const certificate =
      props.certificates === 'cert-manager'
        ? new CertManagerCertificate(this, 'certificate', this.namespace)
        : undefined;
    return new OperatorWebhooks(this, 'webhooks', {
      namespace: this.namespace,
      watched: this.#watched,
      requireNamespaceLabel: props.requireNamespaceLabel ?? false,
      annotations: certificate?.injectCaAnnotations,
    });
  }
}

/** The operator itself passes "restricted"; "baseline" is enforced so that other parts of the platform can live beside it. */
function operatorNamespace(scope: Construct, name: string): void {
  platformObject(scope, 'namespace', {
    apiVersion: 'v1',
    kind: 'Namespace',
    name,
    component: 'namespace',
    labels: { 'pod-security.kubernetes.io/enforce': 'baseline', 'pod-security.kubernetes.io/warn': 'restricted' },
  });
}

/** An empty list would reach the operator as "no list", which means every namespace. */
function nothingWatched(watched: WatchedNamespaces): string[] {
  if (watched.kind === 'cluster' || watched.names.length > 0) return [];
  return ['namespaced mode without a namespace: list one in watch.namespaces or call watchNamespace'];
}

function check({ image, replicas = 2 }: AgentPlatformProps): void {
  if (!/^\S+$/.test(image)) throw new Error(`image ${JSON.stringify(image)} is not an image reference`);
  if (!Number.isInteger(replicas) || replicas < 1) {
    throw new Error(`replicas ${replicas}: at least one is needed; with two, webhooks answer through a restart`);
  }
}
