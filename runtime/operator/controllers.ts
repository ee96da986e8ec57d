/** The controllers of this process, made from its settings. */

import { createAgentCardController, createVerifiedLabelController } from '../agent-card/controller.ts';
import { createContacts } from '../agent-card/contacts.ts';
import { createFetcher } from '../agent-card/fetch.ts';
import { countFetches } from '../agent-card/metering.ts';
import { createAgentCardSyncControllers } from '../agent-card-sync/controller.ts';
import { createAgentRuntimeController } from '../agent-runtime/controller.ts';
import type { ConfigWatches, LayerReader } from '../config/read.ts';
import type { Clock } from '../engine/clock.ts';
import type { Metrics } from '../engine/metrics.ts';
import type { Controller, Live, Log } from '../engine/types.ts';
import { createNetworkPolicyController } from '../network-policy/controller.ts';
import { withFarewell } from '../network-policy/farewell.ts';
import { createVerdicts, type Verdicts } from '../workload/verdicts.ts';
import type { Settings } from './settings.ts';

/** What the controllers share. */
export interface Shared {
  readonly settings: Settings;
  readonly layers: LayerReader;
  readonly watches: ConfigWatches;
  /** The mounted files, by name. */
  readonly files: Readonly<Record<string, Live<unknown>>>;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly log: Log;
}

/** Every controller that the settings ask for. */
export function createControllers(shared: Shared): readonly Controller[] {
  const { settings, log } = shared;
  const { enforceNetworkPolicies, requireSignature } = settings;
  if (enforceNetworkPolicies && !requireSignature) {
    log.warn('no signature is verified, so that every agent is closed off: set --require-a2a-signature as well');
  }
  const verdicts = createVerdicts(({ metadata: { namespace, name } }, { isVerified, reason, expires }) =>
    log.debug('verdict', { key: { namespace, name }, isVerified, reason, expires }),
  );
  return [
    createAgentRuntimeController({
      ...shared,
      needsEnabledNamespace: settings.requireNamespaceLabel,
      operatorNamespace: settings.namespace,
    }) as Controller,
    agentCardController(shared, verdicts),
    createVerifiedLabelController() as Controller,
    ...createAgentCardSyncControllers(),
    ...(enforceNetworkPolicies ? [networkPolicies(shared, verdicts) as Controller] : []),
  ];
}

/** Where its end would open a network, a card is not let go before that is seen to. */
function agentCardController(shared: Shared, verdicts: Verdicts): Controller {
  const { settings, layers } = shared;
  const cards = agentCards(shared, verdicts);
  const isEnforcing = settings.enforceNetworkPolicies && !settings.signatureAudit;
  return (isEnforcing ? withFarewell(cards, { layers, operatorNamespace: settings.namespace }) : cards) as Controller;
}

function agentCards({ settings, clock, ...shared }: Shared, verdicts: Verdicts) {
  const { cardTimeoutSeconds, cardFetches } = settings;
  const timeoutMs = cardTimeoutSeconds * 1000;
  return createAgentCardController({
    ...shared,
    contacts: createContacts({
      ask: createFetcher({ timeoutMs }),
      time: clock,
      timeoutMs,
      limit: cardFetches,
      onAttempt: countFetches(shared.metrics),
    }),
    verification: {
      isRequired: settings.requireSignature,
      isAudit: settings.signatureAudit,
      profiles: settings.signatureProfiles,
      trustDomain: settings.trustDomain,
      scope: settings.bindingScope,
      bundle: {
        namespace: settings.trustBundleNamespace,
        name: settings.trustBundleConfigMap,
        key: settings.trustBundleKey,
      },
      verdictSyncPeriods: settings.verdictSyncPeriods,
    },
    verdicts,
    now: () => clock.now(),
    monotonicMs: () => clock.monotonicMs(),
  });
}

function networkPolicies({ settings, ...shared }: Shared, verdicts: Verdicts) {
  return createNetworkPolicyController({
    ...shared,
    operatorNamespace: settings.namespace,
    isAudit: settings.signatureAudit,
    verdicts,
  });
}
