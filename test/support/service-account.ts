/** An identity with exactly the rights a test gives it. */

import type { Client } from '../../runtime/engine/client.ts';
import type { Kind, KubeObject } from '../../runtime/engine/types.ts';

export interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
}

const rbac = 'rbac.authorization.k8s.io/v1';

function ofKind(apiVersion: string, kind: string, plural: string, namespaced: boolean): Kind {
  return { apiVersion, kind, plural, namespaced };
}

/** Makes the account; returns its token, good for an hour. */
export async function makeServiceAccount(client: Client, namespace: string, name: string): Promise<string> {
  const serviceAccounts = ofKind('v1', 'ServiceAccount', 'serviceaccounts', true);
  await client.create(serviceAccounts, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { namespace, name } });
  const tokens: Kind<TokenRequest> = ofKind('v1', 'TokenRequest', `serviceaccounts/${name}/token`, true);
  const request = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', metadata: { namespace }, spec: {} };
  const { status } = await client.create(tokens, request);
  return status?.token ?? '';
}

interface TokenRequest extends KubeObject {
  readonly status?: { readonly token: string };
}

/** Grants the rules: in one namespace by a Role, else by a ClusterRole. `account` is `namespace/name`. */
export async function grant(
  client: Client,
  account: string,
  to: { namespace?: string; name: string; rules: readonly Rule[] },
): Promise<void> {
  const { namespace, name, rules } = to;
  const prefix = namespace === undefined ? 'Cluster' : '';
  const make = (kind: string, plural: string, fields: object) =>
    client.apply(
      {
        kind: ofKind(rbac, `${prefix}${kind}`, `${prefix.toLowerCase()}${plural}`, namespace !== undefined),
        body: { apiVersion: rbac, kind: `${prefix}${kind}`, metadata: { namespace, name }, ...fields },
      },
      { fieldManager: 'test' },
    );
  const [accountNamespace, accountName] = account.split('/');
  await make('Role', 'roles', { rules });
  await make('RoleBinding', 'rolebindings', {
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: `${prefix}Role`, name },
    subjects: [{ kind: 'ServiceAccount', namespace: accountNamespace, name: accountName }],
  });
}
