/** What developers may do with AgentRuntimes and AgentCards: added to Kubernetes' own `view`, `edit` and `admin` roles. */

import { Construct } from 'constructs';
import { kinds } from '../runtime/api/kinds.ts';
import { apiGroup } from '../runtime/api/names.ts';
import { platformObject } from './platform-objects.ts';

const component = 'rbac';
const aggregateTo = (role: string) => `rbac.authorization.k8s.io/aggregate-to-${role}`;

const resources = [kinds.agentRuntime, kinds.agentCard];
const roles = [
  { word: 'viewer', aggregates: ['view'], verbs: ['get', 'list', 'watch'] },
  {
    word: 'editor',
    aggregates: ['edit', 'admin'],
    verbs: ['create', 'delete', 'get', 'list', 'patch', 'update', 'watch'],
  },
] as const;

/** Two ClusterRoles a resource that are bound to nobody: whoever has `edit` in a namespace may enrol workloads and keep cards there. */
export class DeveloperRoles extends Construct {
  constructor(scope: Construct, id: string) {
    super(scope, id);
    for (const { kind, plural } of resources) {
      for (const { word, aggregates, verbs } of roles) {
        const name = `rossoctl-${kind.toLowerCase()}-${word}`;
        platformObject(this, name, {
          apiVersion: 'rbac.authorization.k8s.io/v1',
          kind: 'ClusterRole',
          name,
          component,
          labels: Object.fromEntries(aggregates.map((role) => [aggregateTo(role), 'true'])),
          content: { rules: [{ apiGroups: [apiGroup], resources: [plural], verbs }] },
        });
      }
    }
  }
}
