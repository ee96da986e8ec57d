/** The processor's metrics: what was decided in each direction, why, and how long it took. */

import type { Metrics } from '../../engine/types.ts';
import type { Decision, RequestHead } from '../decision.ts';

export interface ProcessorMeter {
  /** A request is being decided; call the result with the decision, or undefined when the caller went away first. */
  begin(head: Pick<RequestHead, 'direction' | 'isTls'>): (decision: Decision | undefined) => void;
}

export function processorMeter(metrics: Metrics, now: () => number): ProcessorMeter {
  const total = metrics.counter<'direction' | 'decision' | 'reason' | 'mtls'>({
    name: 'rossoctl_sidecar_decisions_total',
    help: 'Requests by direction, decision (pass, refuse, gone), its reason, and whether they came (inbound) or leave (outbound) by mutual TLS.',
    labels: ['direction', 'decision', 'reason', 'mtls'],
  });
  const took = metrics.histogram<'direction'>({
    name: 'rossoctl_sidecar_decision_seconds',
    help: 'Seconds a decision took.',
    labels: ['direction'],
  });
  const active = metrics.gauge<'direction'>({
    name: 'rossoctl_sidecar_decisions_active',
    help: 'Requests that are being decided.',
    labels: ['direction'],
  });
  return {
    begin: ({ direction, isTls }) => {
      const begun = now();
      active.add({ direction });
      return (decision) => {
        active.add({ direction }, -1);
        took.observe({ direction }, (now() - begun) / 1000);
        const { kind, reason } = decision ?? { kind: 'gone', reason: 'caller_gone' };
        const leaves = decision?.kind === 'pass' && decision.isMtls === true;
        total.inc({ direction, decision: kind, reason, mtls: String(isTls || leaves) });
      };
    },
  };
}
