/** Why pods of an enrolled workload get no sidecars although nothing is wrong: a switch says so. */

import { labels } from '../api/names.ts';
import type { Workload } from '../workload/workload.ts';
import type { Facts } from './observed.ts';

/** A sentence naming the switch; undefined when pods are expected to be injected. The webhook decides by the same facts. */
export function injectionOff(facts: Facts, workload: Workload): string | undefined {
  const { configuration, runtime, namespace } = facts;
  if (workload.templateLabels[labels.inject] === 'disabled') {
    return `The pod template is labelled ${labels.inject}: disabled.`;
  }
  if (facts.needsEnabledNamespace && namespace.labels[labels.enabled] !== 'true') {
    return `The namespace is not labelled ${labels.enabled}: "true".`;
  }
  if (configuration.kind === 'broken') return undefined;
  const { gates } = configuration.effective;
  if (!gates.globalEnabled) return 'The feature gate globalEnabled is false.';
  if (runtime.spec.type === 'tool' && !gates.injectTools) {
    return 'The workload is a tool and the feature gate injectTools is false.';
  }
  return undefined;
}
