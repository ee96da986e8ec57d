/** Says whether a call of the agent leaves by mutual TLS: by its route, else by the mode, and never in plain HTTP because it is not possible now. */

import type { MtlsMode } from '../envoy/intent.ts';
import { isService } from './names.ts';
import type { Route } from './routes.ts';

export interface OutboundMtls {
  readonly mode: MtlsMode;
  /** Why the pod cannot prove who it is now, a sentence without a full stop; undefined: it can. */
  readonly unavailable: () => string | undefined;
}

/** Whether the host is called by mutual TLS alone. In `permissive` mode that is for a route to say; in `strict` mode a Service of the cluster is, unless a route says `none`. */
export function isMtlsRequired(mode: MtlsMode, route: Pick<Route, 'mtls'> | undefined, host: string): boolean {
  if (route?.mtls !== undefined) return route.mtls === 'required';
  return mode === 'strict' && isService(host);
}
