/** The table that says what becomes of the agent's calls by their host: read strictly, first match wins. */

import { Type } from 'typebox';
import { oneOf } from '../../api/schema.ts';
import type { Violation } from '../../config/problem.ts';
import { readJsonSetting, type Setting } from '../json-setting.ts';
import { isPartLike } from '../wildcard.ts';
import { authorityOf } from './host.ts';

const actions = ['exchange', 'passthrough', 'deny'] as const;
const noTokenPolicies = ['deny', 'allow', 'client-credentials'] as const;

/** One row as it is written. */
interface RouteText {
  /** A host or a glob of labels, without a port: see `hostMatcher`. */
  readonly host: string;
  /** Whom the token is for. Default: nobody is named, then `scopes` must be. */
  readonly audience?: string;
  /** Default: none. */
  readonly scopes?: readonly string[];
  /** Default: the issuer's. */
  readonly tokenUrl?: string;
  /** `exchange` (default): a token made for the host takes the caller's place. `passthrough`: the caller's goes as it is. `deny`: no call. */
  readonly action?: (typeof actions)[number];
  /**
   * For a request without a caller's token. `deny` (default); `allow`: it goes as it is, with whatever credentials of its own it has;
   * `client-credentials`: with a token of the agent itself.
   */
  readonly noToken?: (typeof noTokenPolicies)[number];
}

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
} & (
  | { readonly action: 'passthrough' | 'deny' }
  | { readonly action: 'exchange'; readonly target: Target; readonly noToken: (typeof noTokenPolicies)[number] }
);

/** The first route of a host (as `authorityOf` spells it), or undefined. */
export function routeOf(routes: readonly Route[], host: string): Route | undefined {
  return routes.find(({ matches }) => matches(host));
}

/**
 * Routes that belong behind those of the table: a token may go back to who made it, so that an agent can ask the identity provider who its caller
 * is. `urls` are the provider's, such as `TOKEN_URL`; what is no URL is left out.
 */
export function providerRoutes(urls: readonly string[]): readonly Route[] {
  const hosts = urls.map((url) => authorityOf(URL.parse(url)?.host ?? '')?.host).filter((host) => host !== undefined);
  return [...new Set(hosts)].map((host) => ({ host, matches: (other) => other === host, action: 'passthrough' }));
}

const text = (maxLength: number) => Type.String({ minLength: 1, maxLength });

const schema = Type.Array(
  Type.Object({
    host: text(253),
    audience: Type.Optional(text(512)),
    scopes: Type.Optional(
      Type.Array(
        Type.String({
          // RFC 6749 section 3.3.
          pattern: String.raw`^[\x21\x23-\x5b\x5d-\x7e]{1,256}$`,
          description: 'One scope: printable ASCII without blanks, quotes and backslashes, such as "tool-audience".',
        }),
        { maxItems: 32 },
      ),
    ),
    tokenUrl: Type.Optional(text(2048)),
    action: Type.Optional(oneOf(actions)),
    noToken: Type.Optional(oneOf(noTokenPolicies)),
  }),
  { maxItems: 256 },
);

/** The variable `ROUTES`: a JSON list. Nothing: no routes. */
export function readRoutes(json: string | undefined): Setting<readonly Route[]> {
  const setting = readJsonSetting<readonly RouteText[]>('ROUTES', json, {
    schema,
    empty: [],
    rules: (rows) => rows.flatMap(violations),
  });
  return 'value' in setting ? { value: setting.value.map(routeFrom) } : setting;
}

function routeFrom(row: RouteText): Route {
  const { host, action = 'exchange', audience = '', scopes = [], tokenUrl = '', noToken = 'deny' } = row;
  const named = { host, matches: hostMatcher(host) };
  return action === 'exchange'
    ? { ...named, action, noToken, target: { audience, scopes, tokenUrl } }
    : { ...named, action };
}

/** Keys that only an exchange has. */
const exchangeKeys = ['audience', 'scopes', 'tokenUrl', 'noToken'] as const;

function violations(row: RouteText, index: number): readonly Violation[] {
  const at = (key: string, message: string | undefined): readonly Violation[] =>
    message === undefined ? [] : [{ path: `[${index}].${key}`, message }];
  const { action = 'exchange', audience, scopes = [], tokenUrl } = row;
  if (row.host === undefined) return at('host', 'is missing');
  const host = at('host', hostProblem(row.host));
  if (action !== 'exchange') {
    const idle = exchangeKeys.filter((key) => row[key] !== undefined);
    return [...host, ...idle.flatMap((key) => at(key, `has no effect with the action ${action}; remove it`))];
  }
  const isAimless = audience === undefined && scopes.length === 0;
  return [
    ...host,
    ...at('audience', isAimless ? 'is missing: an exchange needs an audience, scopes, or both' : undefined),
    ...at('tokenUrl', tokenUrl === undefined ? undefined : urlProblem(tokenUrl)),
  ];
}

function urlProblem(url: string): string | undefined {
  const parsed = URL.parse(url);
  if (parsed === null || !/^https?:$/.test(parsed.protocol))
    return 'must be a URL that begins with http:// or https://';
  return parsed.username + parsed.password === '' ? undefined : 'must not hold a user or password';
}

/** Why a host glob is refused; undefined: nothing. */
export function hostProblem(glob: string): string | undefined {
  if (glob.startsWith('[')) return authorityOf(glob) === undefined ? 'is no IPv6 address in brackets' : undefined;
  if (/:\d*$/.test(glob)) return 'is compared without a port; remove it';
  if (authorityOf(glob) === undefined) return 'must be a host, without scheme, user and path';
  const labels = glob.replace(/\.$/, '').split('.');
  if (labels.includes('')) return 'has an empty label';
  if (labels.some((label) => label.includes('**') && label !== '**'))
    return '"**" stands for whole labels, alone between dots';
  return labels.filter((label) => label === '**').length > 1 ? 'may have "**" once' : undefined;
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
