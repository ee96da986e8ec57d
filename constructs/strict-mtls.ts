/** Mutual TLS that is strict on a platform whose gates give nobody an identity: every pod that it is for would be refused. */

import { type FeatureGates, gateDefaults } from '../runtime/config/feature-gates.ts';
import type { PartialConfig } from '../runtime/config/platform.ts';
import type { Violation } from '../runtime/config/violation.ts';
import { defined } from './refusal.ts';

type Gates = Partial<FeatureGates>;

/** Whether pods of this type get a proxy and no identity for it. */
export function lacksIdentity(gates: Gates = {}, type: 'agent' | 'tool' = 'agent'): boolean {
  const { globalEnabled, envoyProxy, injectTools, spiffeHelper } = { ...gateDefaults, ...(defined(gates) as Gates) };
  return globalEnabled && envoyProxy && !spiffeHelper && (type === 'agent' || injectTools);
}

/** What is wrong with strict, and what to do; `permissive` is how the other mode is written there. */
export function strictProblem(permissive: string): string {
  return `strict needs an identity, which no pod gets with featureGates.spiffeHelper: false, so every pod would be refused: set spiffeHelper: true, or ${permissive}`;
}

/** Of a configuration, by paths below it. */
export function strictViolations(config: Pick<PartialConfig, 'mtls'> = {}, gates?: Gates): readonly Violation[] {
  if (config.mtls?.mode !== 'strict' || !lacksIdentity(gates)) return [];
  return [{ path: 'mtls.mode', message: strictProblem('mtls.mode: permissive') }];
}
