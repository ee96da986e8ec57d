/** Reads the pod annotations that name ports whose traffic is not captured. */

import { annotations } from '../api/names.ts';

/** Ports, ascending and distinct; or the tokens that are no ports. */
export type Exclusions =
  | { readonly ok: true; readonly outbound: readonly number[]; readonly inbound: readonly number[] }
  | { readonly ok: false; readonly annotation: string; readonly tokens: readonly string[] };

/** Reads `rossoctl.io/outbound-ports-exclude` and `rossoctl.io/inbound-ports-exclude`: comma-separated numbers from 1 to 65535. */
export function portExclusions(pod: Readonly<Record<string, string>> | undefined): Exclusions {
  const outbound = portList(pod?.[annotations.outboundPortsExclude]);
  if (outbound.bad.length > 0) return { ok: false, annotation: annotations.outboundPortsExclude, tokens: outbound.bad };
  const inbound = portList(pod?.[annotations.inboundPortsExclude]);
  if (inbound.bad.length > 0) return { ok: false, annotation: annotations.inboundPortsExclude, tokens: inbound.bad };
  return { ok: true, outbound: outbound.ports, inbound: inbound.ports };
}

/** Empty tokens (a trailing comma) are nothing, not mistakes. */
function portList(text: string | undefined): { readonly ports: readonly number[]; readonly bad: readonly string[] } {
  const tokens = (text ?? '').split(',').map((token) => token.trim());
  const named = tokens.filter((token) => token !== '');
  const bad = named.filter((token) => !/^\d{1,5}$/.test(token) || Number(token) < 1 || Number(token) > 65535);
  if (bad.length > 0) return { ports: [], bad };
  return { ports: [...new Set(named.map(Number))].sort((a, b) => a - b), bad };
}
