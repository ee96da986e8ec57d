/** What Pulumi waits for besides what it knows of itself. */

import type { TargetRef } from '../runtime/api/target-ref.ts';
import { labels } from '../runtime/api/names.ts';
import { subjectOf } from '../constructs/rivals.ts';
import { workloadRows } from '../runtime/workload/kinds.ts';
import type { PlatformFacts } from './platform-facts.ts';
import type { Manifest } from './tree.ts';

interface Enrolling {
  readonly spec: { readonly type: 'agent' | 'tool'; readonly targetRef: TargetRef };
}

const trusted = 'jsonpath={.webhooks[*].clientConfig.caBundle}';
const ready = 'condition=Ready';
/** Its pods run with their sidecars: a Deployment replaces those without only when these are ready. */
const injected = JSON.stringify([ready, 'condition=PodsInjected']);

/**
 * Object → the condition, in the form of the annotation `pulumi.com/waitFor`; undefined: none. That webhooks can be called, that an
 * AgentRuntime is Ready and, where its platform injects the type in that namespace and the workload replaces its pods by itself, that every pod
 * carries the sidecars.
 */
export function conditions(
  manifests: readonly Manifest[],
  { namespaces, ...types }: PlatformFacts['injects'],
): (manifest: Manifest) => string | undefined {
  const apart = new Set(manifests.filter(isApart).map(workloadOf));
  return (manifest) => {
    if (manifest.kind.endsWith('WebhookConfiguration')) return trusted;
    if (manifest.kind !== 'AgentRuntime') return undefined;
    const { namespace = '' } = manifest.metadata;
    const { type, targetRef } = (manifest as Manifest & Enrolling).spec;
    const isMeant = types[type] && (namespaces?.includes(namespace) ?? true);
    const rolls = workloadRows.some(({ kind, restartsPods }) => kind === targetRef.kind && restartsPods);
    return isMeant && rolls && !apart.has(subjectOf('', manifest.metadata.namespace, targetRef)) ? injected : ready;
  };
}

interface Rolling {
  readonly spec?: {
    readonly paused?: boolean;
    readonly updateStrategy?: { readonly type?: string; readonly rollingUpdate?: { readonly partition?: number } };
  };
}

/** A workload whose pods are not injected by its own word, or of which some stay as they are until a person acts. */
function isApart(manifest: Manifest): boolean {
  const row = workloadRows.find(({ kind }) => kind === manifest.kind);
  if (row === undefined) return false;
  const { paused = false, updateStrategy: { type, rollingUpdate } = {} } = (manifest as Manifest & Rolling).spec ?? {};
  const isOptedOut = row.template(manifest)?.metadata?.labels?.[labels.inject] === 'disabled';
  return isOptedOut || paused || type === 'OnDelete' || (rollingUpdate?.partition ?? 0) > 0;
}

function workloadOf({ apiVersion, kind, metadata: { namespace, name } }: Manifest): string {
  return subjectOf('', namespace, { apiVersion, kind, name });
}
