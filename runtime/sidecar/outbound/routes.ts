/** The table that says what becomes of the agent's calls by their host: read strictly, first match wins. */

import { type RouteText, RouteTexts, routeViolations } from '../../config/routes.ts';
import { authorityOf } from '../../encoding/authority.ts';
import { readJsonSetting, type Setting } from '../json-setting.ts';
import { isPartLike } from '../wildcard.ts';

/** What a token is asked for. */
export interface Target {
  /** Empty: none is named, and the scopes alone decide. */
  readonly audience: string;
  readonly scopes: readonly string[];
  /** Empty: the issuer's. */
  readonly tokenUrl: string;
}

export type Route = {
  /** As written, for messages. */
  readonly host: string;
  readonly matches: (host: string) => boolean;
  /** Where on that host, besides. Default: everywhere. */
  readonly isFor?: (target: Place) => boolean;
  /** Undefined: by `mtls.mode`. */
  readonly mtls?: RouteText['mtls'];
} & (
  | { readonly action: 'passthrough' | 'deny' }
  | { readonly action: 'exchange'; readonly target: Target; readonly noToken: NonNullable<RouteText['noToken']> }
);

/** Where on a host a request goes. */
export interface Place {
  readonly port: number;
  /** As sent, query included. */
  readonly path: string;
}

/** The first route of a host (as `authorityOf` spells it) and a place on it, or undefined. Without a place: of the host alone. */
export function routeOf(routes: readonly Route[], host: string, place?: Place): Route | undefined {
  return routes.find(({ matches, isFor }) => matches(host) && (place === undefined || (isFor?.(place) ?? true)));
}

/**
 * Routes that belong behind those of the table: a token may go back to who made it, so that an agent can ask the identity provider who its caller
 * is. `urls` are the provider's, such as `TOKEN_URL`; what is no URL of plain HTTP, which is all that is seen here, is left out. Other ports and paths
 * of the host may be anybody's.
 */
export function providerRoutes(urls: readonly string[]): readonly Route[] {
  const places = urls.flatMap(placeIn);
  return [...new Set(places.map(({ host }) => host))].map((host) => ({
    host,
    matches: (other) => other === host,
    action: 'passthrough',
    isFor: (target) => places.some((place) => place.host === host && isWithin(target, place)),
    // Its own TLS, or none: it has no sidecar.
    mtls: 'none',
  }));
}

function placeIn(url: string): readonly (Place & { readonly host: string })[] {
  const parsed = URL.parse(url);
  const host = authorityOf(parsed?.host ?? '')?.host;
  if (parsed?.protocol !== 'http:' || host === undefined) return [];
  return [{ host, port: parsed.port === '' ? 80 : Number(parsed.port), path: parsed.pathname.replace(/\/+$/, '') }];
}

/** That path or below it, in its plain form: no dots, no escapes. */
function isWithin(target: Place, { port, path }: Place): boolean {
  const [sent = ''] = target.path.split('?', 1);
  if (target.port !== port || /\/\.|[%;\\]/.test(sent)) return false;
  return sent === path || sent.startsWith(`${path}/`);
}

/** The variable `ROUTES`: a JSON list. Nothing: no routes. */
export function readRoutes(json: string | undefined): Setting<readonly Route[]> {
  const setting = readJsonSetting<readonly RouteText[]>('ROUTES', json, {
    schema: RouteTexts,
    empty: [],
    rules: routeViolations,
  });
  return 'value' in setting ? { value: setting.value.map(routeFrom) } : setting;
}

function routeFrom(row: RouteText): Route {
  const { host, action = 'exchange', audience = '', scopes = [], tokenUrl = '', noToken = 'deny', mtls } = row;
  const named = { host, matches: hostMatcher(host), ...(mtls === undefined ? {} : { mtls }) };
  return action === 'exchange'
    ? { ...named, action, noToken, target: { audience, scopes, tokenUrl } }
    : { ...named, action };
}

/** `*` is one label, or any part of one; `**` one label or more. An IPv6 address is compared as it is. */
export function hostMatcher(glob: string): (host: string) => boolean {
  const host = authorityOf(glob)?.host ?? glob;
  if (!host.includes('*')) return (other) => other === host;
  const patterns = host.split('.');
  const at = patterns.indexOf('**');
  const [before, after] = at === -1 ? [patterns, []] : [patterns.slice(0, at), patterns.slice(at + 1)];
  const tail = host.slice(host.lastIndexOf('*') + 1);
  return (other) => {
    // Most hosts are told apart by how they end, before anything is taken to pieces.
    if (!other.endsWith(tail) || other === '' || other.includes(':')) return false;
    const labels = other.split('.');
    const between = labels.length - before.length - after.length;
    if (at === -1 ? between !== 0 : between < 1) return false;
    const ends = [...labels.slice(0, before.length), ...labels.slice(labels.length - after.length)];
    return [...before, ...after].every((pattern, index) => isPartLike(pattern, ends[index] ?? ''));
  };
}
