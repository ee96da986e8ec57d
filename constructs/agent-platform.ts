/** The whole platform from one props object: namespace, CRDs, configuration, RBAC, operator, label policy and webhooks. */

import type { ApiObject } from 'cdk8s';
import { Construct } from 'constructs';
import { install, nameOfInstance } from '../runtime/api/names.ts';
import type { AgentPlatformProps } from './agent-platform-props.ts';
import { AgentPlatformSchema } from './agent-platform-schema.ts';
import { CertManagerCertificate } from './certificates.ts';
import { refuseCollisions } from './collisions.ts';
import { CustomResourceDefinitions } from './crds.ts';
import { demandsInVain, strictInVain } from './demands.ts';
import { OperatorDeployment } from './deployment.ts';
import { DeveloperRoles } from './developer-roles.ts';
import { type Install, installViolations, rivalries } from './installs.ts';
import { LabelProtection } from './label-protection.ts';
import { defaultResources } from './operator-pod.ts';
import { type Grants, operatorPermissions } from './permissions.ts';
import { PlatformConfigMaps } from './platform-config.ts';
import { labelInstance, platformObject } from './platform-objects.ts';
import { OperatorRbac } from './rbac.ts';
import { unsetImage } from './prop-schemas.ts';
import { proxyUserTaken } from './proxy-user.ts';
import { propViolations, refuse } from './refusal.ts';
import { resourceViolations } from './resource-quantities.ts';
import { SignatureProtection } from './signature-protection.ts';
import { strictViolations } from './strict-mtls.ts';
import { trustBundleOf, verificationFlags, verificationViolations } from './verification.ts';
import {
  agentNamespaceViolations,
  ownNamespaceViolations,
  WatchedNamespaces,
  watchViolations,
} from './watched-namespaces.ts';
import { OperatorWebhooks } from './webhooks.ts';

/**
 * Installs the platform. Every name is explicit, so neither moving the construct nor renaming its chart replaces anything.
 * Dependencies are declared: policy and webhooks come last, after the operator that answers them.
 */
export class AgentPlatform extends Construct {
  /** The operator's namespace. */
  readonly namespace: string;
  /** The account the operator runs as. */
  readonly serviceAccountName: string;
  /** Name of the operator's Deployment. */
  readonly deploymentName: string;
  /** The operator's Deployment, for what no prop covers: `platform.deployment.addJsonPatch(…)`. */
  readonly deployment: ApiObject;
  /**
   * What other installs of the cluster rely on too, the CustomResourceDefinitions and the policy over verdicts: not to go along with this one.
   * Empty where it is the only one.
   */
  readonly shared: readonly Construct[];
  readonly #watched: WatchedNamespaces;
  readonly #install: Install;
  readonly #rbac: OperatorRbac;

  /**
   * Throws on a prop that is unknown or out of bounds, naming it. Synthesis fails on namespaced mode without a namespace, on
   * configuration the operator would refuse, on a second platform in the app that is not an instance with namespaces of its own, on agents,
   * cards or defaults in the operator's own namespace, on anything for agents in one that is not watched, and on an agent under the proxy's user.
   */
  constructor(scope: Construct, id: string, props: AgentPlatformProps) {
    super(scope, id);
    refuse(this, propViolations(AgentPlatformSchema, props));
    this.namespace = props.namespace ?? install.namespace;
    const watch = props.watch ?? { kind: 'cluster' };
    refuse(this, [
      ...unsetImage(props.image),
      ...ownNamespaceViolations(this.namespace),
      ...resourceViolations(props.resources),
      ...watchViolations(watch, this.namespace),
      ...installViolations(props, watch.kind, `set watch: { kind: 'namespaced', namespaces: […] }`),
      ...verificationViolations(props),
      ...strictViolations(props.config, props.featureGates).map(({ path, message }) => ({
        path: `config.${path}`,
        message,
      })),
    ]);
    refuseCollisions(this);
    const { instance, crds: definitions = 'install' } = props;
    if (instance !== undefined) labelInstance(this, instance);
    this.serviceAccountName = props.serviceAccountName ?? nameOfInstance(install.serviceAccount, instance);
    this.deploymentName = props.deploymentName ?? install.deployment;
    this.#watched = new WatchedNamespaces(watch);
    const { namespace, serviceAccountName } = this;
    const watched = this.#watched;
    const account = { namespace, serviceAccountName };
    this.#install = { ...account, path: this.node.path, instance, crds: definitions, watched };

    if (props.createNamespace ?? true) operatorNamespace(this, namespace);
    const crds = definitions === 'install' ? [new CustomResourceDefinitions(this, 'crds')] : [];
    const { config, featureGates } = props;
    const configMaps = new PlatformConfigMaps(this, 'config', { namespace, config, featureGates });
    const permissions = operatorPermissions(grantsOf(props));
    const prefix = instance === undefined ? serviceAccountName : nameOfInstance(install.serviceAccount, instance);
    this.#rbac = new OperatorRbac(this, 'rbac', { ...account, prefix, watched, permissions });
    if (watched.kind === 'cluster') new DeveloperRoles(this, 'developer-roles');
    const operator = this.#operator(props);
    operator.node.addDependency(...crds, configMaps, this.#rbac);
    this.deployment = operator.deployment;
    const verdicts = definitions === 'install' ? [this.#signatureProtection(props)] : [];
    const policies = [new LabelProtection(this, 'label-protection', { ...account, watched, instance }), ...verdicts];
    this.shared = isOneOfSeveral(props) ? [...crds, ...verdicts] : [];
    this.#webhooks(props).node.addDependency(operator, ...policies);
    for (const policy of policies) policy.node.addDependency(operator);
    this.node.addValidation({
      validate: () => [
        ...nothingWatched(watched),
        ...this.#rivals(),
        ...demandsInVain(this, this.#all()),
        ...strictInVain(this, featureGates),
        ...proxyUserTaken(this, config?.proxy?.uid),
      ],
    });
  }

  /**
   * Watches one more namespace: the operator gets its Role there, and webhooks and policy cover it. Twice changes nothing.
   * Throws in cluster mode, where every namespace is watched, and on a namespace where no agent can live.
   */
  watchNamespace(name: string): void {
    const inVain = `the platform watches every namespace; set watch: { kind: 'namespaced', namespaces: […] }`;
    const path = 'watchNamespace';
    refuse(
      this,
      this.#watched.kind === 'cluster'
        ? [{ path, message: `cannot watch ${name} in particular: ${inVain}` }]
        : agentNamespaceViolations(name, this.namespace, path),
    );
    this.#watched.add(name);
    this.#rbac.addNamespace(name);
  }

  /** The watched namespaces, sorted; empty in cluster mode, where all are. */
  get watchedNamespaces(): readonly string[] {
    return this.#watched.names;
  }

  /** Whether agents of this namespace are looked after. */
  watches(namespace: string): boolean {
    return this.#watched.kind === 'cluster' || this.#watched.names.includes(namespace);
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
        ...(props.instance === undefined ? {} : { instance: props.instance }),
        ...(this.deploymentName === install.deployment ? {} : { 'deployment-name': this.deploymentName }),
        ...(props.logLevel === undefined ? {} : { 'log-level': props.logLevel }),
        ...(qps === undefined ? {} : { 'kube-api-qps': qps }),
        ...(burst === undefined ? {} : { 'kube-api-burst': burst }),
        ...(props.requireNamespaceLabel === true ? { 'require-namespace-label': 'true' } : {}),
        ...verificationFlags(props),
      },
    });
  }

  /** Every platform of the app, in the order of its constructs. */
  #all(): readonly AgentPlatform[] {
    return this.node.root.node.findAll().filter((other) => other instanceof AgentPlatform);
  }

  /** Of two the later one says what they cannot both have. */
  #rivals(): readonly string[] {
    const all = this.#all();
    return all.slice(0, all.indexOf(this)).flatMap((other) => rivalries(this.#install, other.#install));
  }

  #signatureProtection({ operators = [] }: AgentPlatformProps): SignatureProtection {
    const { namespace, serviceAccountName } = this;
    const others = () => [...operators, ...this.#all()];
    return new SignatureProtection(this, 'signature-protection', { namespace, serviceAccountName, others });
  }

  #webhooks(props: AgentPlatformProps): OperatorWebhooks {
    const certificate =
      props.certificates === 'cert-manager'
        ? new CertManagerCertificate(this, 'certificate', this.namespace)
        : undefined;
    return new OperatorWebhooks(this, 'webhooks', {
      namespace: this.namespace,
      watched: this.#watched,
      instance: props.instance,
      requireNamespaceLabel: props.requireNamespaceLabel ?? false,
      annotations: certificate?.injectCaAnnotations,
    });
  }
}

/** What of the props decides over the operator's rights. */
function grantsOf({
  deploymentName = install.deployment,
  instance,
  certificates,
  verification = {},
  networkPolicies = {},
}: AgentPlatformProps): Grants {
  return {
    deploymentName,
    instance,
    certificates: certificates ?? 'self-managed',
    requireSignature: verification.requireSignature ?? false,
    trustBundle: trustBundleOf(verification),
    networkPolicies: networkPolicies.enforce ?? false,
  };
}

function isOneOfSeveral({ instance, operators = [] }: AgentPlatformProps): boolean {
  return instance !== undefined || operators.length > 0;
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
