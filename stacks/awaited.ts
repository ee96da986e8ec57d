/** What Pulumi waits for besides what it knows of itself. */

import type { TargetRef } from '../runtime/api/target-ref.ts';
import { labels } from '../runtime/api/names.ts';
import { subjectOf } from '../constructs/rivals.ts';
import type { PlatformFacts } from './platform-facts.ts';
import type { Manifest } from './tree.ts';

interface Labelled {
  readonly spec?: {
    readonly template?: { readonly metadata?: { readonly labels?: Readonly<Record<string, string>> } };
  };
}

interface Enrolling {
  readonly spec: { readonly type: 'agent' | 'tool'; readonly targetRef: TargetRef };
}

const trusted = 'jsonpath={.webhooks[*].clientConfig.caBundle}';
const ready = 'condition=Ready';
/** Its pods run with their sidecars: a Deployment replaces those without only when these are ready. */
const injected = JSON.stringify([ready, 'condition=PodsInjected']);

/**
 * Object → the condition, in the form of the annotation `pulumi.com/waitFor`; undefined: none. That webhooks can be called, that an
 * AgentRuntime is Ready and, where its platform injects the type and the workload does not say no, that every pod carries the sidecars.
 */
export function conditions(
  manifests: readonly Manifest[],
  injects: PlatformFacts['injects'],
): (manifest: Manifest) => string | undefined {
  const optedOut = new Set(manifests.filter(isOptedOut).map(workloadOf));
  return (manifest) => {
    if (manifest.kind.endsWith('WebhookConfiguration')) return trusted;
    if (manifest.kind !== 'AgentRuntime') return undefined;
    const { type, targetRef } = (manifest as Manifest & Enrolling).spec;
    const isMeant = injects[type] && !optedOut.has(subjectOf('', manifest.metadata.namespace, targetRef));
    return isMeant ? injected : ready;
  };
}

function isOptedOut(manifest: Manifest): boolean {
  return (manifest as Manifest & Labelled).spec?.template?.metadata?.labels?.[labels.inject] === 'disabled';
}

function workloadOf({ apiVersion, kind, metadata: { namespace, name } }: Manifest): string {
  return subjectOf('', namespace, { apiVersion, kind, name });
}
