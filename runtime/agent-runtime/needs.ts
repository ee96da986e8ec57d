/** What a pod will need before its template is labelled: the namespace's ConfigMap and the ServiceAccount that the template names. */

import { kinds } from '../api/kinds.ts';
import { configMaps, labels, managedBy } from '../api/names.ts';
import { authBridgeData } from '../config/authbridge-data.ts';
import type { Fragment, KubeObject, ObjectRef } from '../engine/types.ts';
import type { Workload } from '../workload/workload.ts';
import type { Observed } from './observed.ts';

const ours = { [labels.managedBy]: managedBy };

/** Made by us, and therefore ours to change and to remove. */
export function isOurs(object: KubeObject): boolean {
  return object.metadata.labels?.[labels.managedBy] === managedBy;
}

/** Objects to create or correct; empty when all is as it should be. Never a person's ConfigMap (CF-02), nothing in a namespace that goes. */
export function needs(observed: Observed, workload: Workload): readonly Fragment[] {
  if (observed.namespace.isTerminating) return [];
  return [...authBridgeConfig(observed, workload), ...serviceAccount(observed, workload)];
}

function authBridgeConfig({ configuration, authBridge }: Observed, { namespace }: Workload): readonly Fragment[] {
  if (configuration.kind === 'broken' || (authBridge !== undefined && !isOurs(authBridge))) return [];
  const data = authBridgeData(configuration.shared);
  if (authBridge !== undefined && isSameData(authBridge.data ?? {}, data)) return [];
  return [fragment(kinds.configMap, { namespace, name: configMaps.authBridge.name }, { data })];
}

function serviceAccount({ hasServiceAccount }: Observed, workload: Workload): readonly Fragment[] {
  const { namespace, serviceAccount: name } = workload;
  return hasServiceAccount || name === undefined ? [] : [fragment(kinds.serviceAccount, { namespace, name }, {})];
}

function fragment(
  kind: Fragment['kind'],
  key: { readonly namespace: string; readonly name: string },
  content: Readonly<Record<string, unknown>>,
): Fragment {
  const { apiVersion, kind: name } = kind;
  return { kind, body: { apiVersion, kind: name, metadata: { ...key, labels: ours }, ...content } };
}

function isSameData(a: Readonly<Record<string, string>>, b: Readonly<Record<string, string>>): boolean {
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => a[key] === b[key]);
}

/** The namespace's ConfigMap, when it is ours and no other AgentRuntime of the namespace remains. ServiceAccounts stay: pods may run under them. */
export function leftovers({ authBridge, hasNeighbours }: Observed): readonly ObjectRef[] {
  if (authBridge === undefined || !isOurs(authBridge) || hasNeighbours) return [];
  const { namespace, name = '', uid } = authBridge.metadata;
  return [{ kind: kinds.configMap, namespace, name, uid }];
}
