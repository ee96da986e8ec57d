/** The Pod Security level a namespace enforces, as far as it can refuse what is injected. */

/** Set on a Namespace by whoever governs it. */
export const podSecurityLabel = 'pod-security.kubernetes.io/enforce';

/**
 * The enforced level when it refuses NET_ADMIN, which is every level but `privileged`: one that Kubernetes does not know counts as
 * restricted there, so it restricts here. Undefined: nothing is refused.
 */
export function restrictingLevel(namespaceLabels: Readonly<Record<string, string>>): string | undefined {
  const level = namespaceLabels[podSecurityLabel];
  return level === 'privileged' ? undefined : level;
}
