/** The namespaces whose pods are never injected, and the sentence that says so: one list for webhooks, validator, controller and constructs. */

/** Kubernetes' own (field report AD-01). */
export const systemNamespaces = ['kube-system', 'kube-public', 'kube-node-lease'] as const;

export function isSystemNamespace(name: string): boolean {
  return systemNamespaces.some((system) => system === name);
}

/** Why no agent can live in a namespace, a clause that a remedy follows; undefined: it can. `own` is the operator's, where known. */
export function neverInjected(name: string, own: string | undefined): string | undefined {
  const whose = isSystemNamespace(name) ? "Kubernetes' own" : name === own ? "the operator's own" : undefined;
  return whose && `${name} is ${whose} namespace, where no pod is ever injected`;
}
