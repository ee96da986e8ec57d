/** Keys `kubernetes:…` in a stack's configuration: they are of Pulumi's default provider, which this project does not use. */

import type { Violation } from '../runtime/config/violation.ts';

const prefix = 'kubernetes:';

/** Whether the key is the default provider's. */
export function isProviderKey(key: string): boolean {
  return key.startsWith(prefix);
}

/** What says the same of the provider that is used, by the default provider's key. */
const ours: Readonly<Record<string, string>> = {
  context: 'context',
  kubeconfig: 'kubeconfig',
  clusterIdentifier: 'identifier',
};

/** Ignored, such a key would have `up` change another cluster than the one that it names. By paths below `config`; no value is repeated. */
export function providerKeyViolations(keys: readonly string[]): readonly Violation[] {
  return keys.filter(isProviderKey).map((key) => {
    const instead = ours[key.slice(prefix.length)];
    const remedy =
      instead === undefined ? 'leave it out' : `write rossoctl:cluster: { ${instead}: … } beside it, and leave it out`;
    return { path: key, message: `is for Pulumi's default provider, which this project does not use: ${remedy}` };
  });
}
