/** What an agent's answer means by its status line and headers: read it, ask again, follow it, look elsewhere, or give up. */

import type { FetchReason } from '../api/conditions.ts';
import { plainText } from '../encoding/plain-text.ts';
import type { Endpoint } from './contact.ts';

/** The second is asked only where the first says that nothing is there (A2A up to 0.2 knows only the second). */
export const wellKnownPaths = ['/.well-known/agent-card.json', '/.well-known/agent.json'] as const;

/** Why nothing came: for people, about the URL that was asked. */
export interface Failure {
  readonly reason: FetchReason;
  readonly cause: string;
}

export type Step =
  | { readonly kind: 'read' }
  | { readonly kind: 'unchanged' }
  /** Once more without the header `A2A-Version`. */
  | { readonly kind: 'plain' }
  | { readonly kind: 'follow'; readonly path: string }
  /** No card at this path, maybe at the other. */
  | ({ readonly kind: 'absent' } & Failure)
  | ({ readonly kind: 'failed' } & Failure);

export interface Asked {
  readonly endpoint: Endpoint;
  /** With query. */
  readonly path: string;
  readonly isVersioned: boolean;
  readonly isConditional: boolean;
}

export interface Answered {
  readonly status: number;
  readonly location: string | undefined;
}

const absentStatuses: ReadonlySet<number> = new Set([404, 405, 410, 501]);
const redirectStatuses: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

export function stepOf(asked: Asked, { status, location }: Answered): Step {
  if (status === 200) return { kind: 'read' };
  if (status === 304 && asked.isConditional) return { kind: 'unchanged' };
  if (status === 400 && asked.isVersioned) return { kind: 'plain' };
  if (redirectStatuses.has(status) && location !== undefined) return followed(asked, location);
  return { kind: absentStatuses.has(status) ? 'absent' : 'failed', reason: 'HTTPStatus', cause: `answered ${status}` };
}

/** As the agent sees it: `http://weather.team1.svc:8080/.well-known/agent-card.json` */
function urlOf({ host }: Endpoint, path: string): string {
  return `http://${host}${path}`;
}

/**
 * `http://10.1.0.1:8081/.well-known/agent-card.json (pod weather-1, Service weather, port a2a 80) answered 500`: who was asked, at which address,
 * and how that was found. Without the query, which is another with each redirect to a login, and may be a secret. At most 500 characters, with nothing
 * in them that a terminal or a log would obey.
 */
export function sentence(endpoint: Endpoint, path: string, cause: string): string {
  const { pod, via } = endpoint;
  const url = plainText(`http://${authority(endpoint)}${path.split('?', 1)[0]}`, 200);
  return plainText(`${url} (${plainText(`pod ${pod}, ${via}`, 200)}) ${cause}`, 500);
}

/** Only to where the request went anyway: whom else the operator asks is not the agent's to say. */
function followed({ endpoint, path }: Asked, location: string): Step {
  const to = URL.parse(location, urlOf(endpoint, path));
  const here = [endpoint.host, authority(endpoint)].map((host) => URL.parse(`http://${host}`)?.origin);
  if (to !== null && here.includes(to.origin)) return { kind: 'follow', path: `${to.pathname}${to.search}` };
  const place = plainText(to?.origin ?? location, 100);
  return { kind: 'failed', reason: 'Redirected', cause: `redirects to ${place}, which is not followed` };
}

/** Address and port as they stand in a URL. */
export function authority({ address, port }: Pick<Endpoint, 'address' | 'port'>): string {
  return address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;
}
