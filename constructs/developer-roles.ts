/** What developers may do with AgentRuntimes: added to Kubernetes' own `view`, `edit` and `admin` roles. */

import { Construct } from 'constructs';
import { kinds } from '../runtime/api/kinds.ts';
import { apiGroup } from '../runtime/api/names.ts';
import { platformObject } from './platform-objects.ts';

const component = 'rbac';
const aggregateTo = (role: string) => `rbac.authorization.k8s.io/aggregate-to-${role}`;

const roles = [
  { name: 'rossoctl-agentruntime-viewer', aggregates: ['view'], verbs: ['get', 'list', 'watch'] },
  {
    name: 'rossoctl-agentruntime-editor',
    aggregates: ['edit', 'admin'],
    verbs: ['create', 'delete', 'get', 'list', 'patch', 'update', 'watch'],
  },
] as const;

/** Two ClusterRoles that are bound to nobody: whoever has `edit` in a namespace may enrol workloads there. */
export class DeveloperRoles extends Construct {
  constructor(scope: Construct, id: string) {
    super(scope, id);
    for (const { name, aggregates, verbs } of roles) {
      platformObject(this, name, {
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'ClusterRole',
        name,
        component,
        labels: Object.fromEntries(aggregates.map((role) => [aggregateTo(role), 'true'])),
        content: { rules: [{ apiGroups: [apiGroup], resources: [kinds.agentRuntime.plural], verbs }] },
      });
    }
  }
}
