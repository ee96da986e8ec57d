/** A tenant: its namespace with its defaults, how much it may use, and what its developers may do there. */

import { ApiObject } from 'cdk8s';
import { Construct } from 'constructs';
import { AgentNamespace, type NamespaceConfig } from 'rossoctl';

/** What the platform grants a tenant. */
export interface TenantProps {
  /** Name of the tenant and of its namespace. */
  readonly name: string;
  /** Group of its developers, as the cluster's authentication names it. */
  readonly developers: string;
  /** SPIFFE trust domain of its agents. */
  readonly trustDomain: string;
  /** Keycloak realm in which its agents are clients. */
  readonly realm: string;
  readonly quota: {
    /** How many pods there may be. */
    readonly pods: number;
    /** What all of them together may request, sidecars too, in Kubernetes' quantities. */
    readonly cpu: string;
    readonly memory: string;
  };
  /**
   * What else is different for this tenant.
   * @default nothing
   */
  readonly defaults?: NamespaceConfig;
}

const rbac = 'rbac.authorization.k8s.io';

/** Everything of one tenant but its agents, which are its own to write. */
export class Tenant extends Construct {
  /** Name of the namespace, for the platform to watch. */
  readonly namespace: string;

  constructor(scope: Construct, id: string, props: TenantProps) {
    super(scope, id);
    const { name, developers, trustDomain, realm, quota, defaults } = props;
    this.namespace = name;
    new AgentNamespace(this, 'namespace', {
      name,
      defaults: { ...defaults, spiffe: { trustDomain }, identity: { ...defaults?.identity, realm } },
    });
    this.#limits(quota);
    this.#rights(developers);
  }

  #limits({ pods, cpu, memory }: TenantProps['quota']): void {
    this.#object('quota', 'v1', 'ResourceQuota', {
      spec: {
        hard: {
          pods: String(pods),
          'requests.cpu': cpu,
          'requests.memory': memory,
          'limits.memory': memory,
        },
      },
    });
    // A quota refuses pods with a container that asks for nothing: such a one asks for this.
    this.#object('container-defaults', 'v1', 'LimitRange', {
      spec: {
        limits: [{ type: 'Container', default: { memory: '256Mi' }, defaultRequest: { cpu: '50m', memory: '128Mi' } }],
      },
    });
  }

  /**
   * Kubernetes' own `edit` holds nothing of the platform in namespaced mode, so AgentRuntimes are granted here. AgentCards, which the operator
   * makes, are only read: who writes them decides who is verified.
   */
  #rights(developers: string): void {
    this.#object('agent-developer', `${rbac}/v1`, 'Role', {
      rules: [
        {
          apiGroups: ['agent.rossoctl.dev'],
          resources: ['agentruntimes'],
          verbs: ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete'],
        },
        { apiGroups: ['agent.rossoctl.dev'], resources: ['agentcards'], verbs: ['get', 'list', 'watch'] },
      ],
    });
    const subjects = [{ apiGroup: rbac, kind: 'Group', name: developers }];
    for (const [id, kind, name] of [
      ['agent-developers', 'Role', 'agent-developer'],
      ['developers', 'ClusterRole', 'edit'],
    ] as const) {
      this.#object(id, `${rbac}/v1`, 'RoleBinding', { roleRef: { apiGroup: rbac, kind, name }, subjects });
    }
  }

  /** One object in the tenant's namespace, named by its id. */
  #object(id: string, apiVersion: string, kind: string, content: Readonly<Record<string, unknown>>): void {
    new ApiObject(this, id, { apiVersion, kind, metadata: { name: id, namespace: this.namespace }, ...content });
  }
}
