/** What is not enforced where the traffic of the target's pods is not redirected. */

import type { Finding } from '../api/conditions.ts';
import { containers } from '../api/names.ts';
import { componentsOf } from '../config/components.ts';
import type { Effective } from '../config/layers.ts';
import type { Workload } from '../workload/workload.ts';

/** Undefined where traffic is redirected, and where pods get no proxy at all; `off` says why they get nothing, if so. */
export function captureFinding(workload: Workload, effective: Effective, off: string | undefined): Finding | undefined {
  const pod = { metadata: { labels: workload.templateLabels } };
  const chosen = componentsOf(pod, effective, true).containers;
  if (off !== undefined || !chosen[containers.envoyProxy].inject || chosen[containers.proxyInit].inject)
    return undefined;
  return { type: 'TrafficCaptured', status: 'False', reason: 'ExplicitProxy', message };
}

const message =
  "Mode proxy-sidecar redirects no traffic. A call of the application passes envoy-proxy only if its HTTP client heeds HTTP_PROXY, and a caller is asked for a token only at the container port rossoctl-in, not at the application's own port. Point Services at rossoctl-in, or use authBridgeMode envoy-sidecar, which lets nothing past.";
