/** The routes of an agent's own calls by their host, as they are written: their schema, and what it cannot say. */

import { domainToASCII } from 'node:url';
import { Type } from 'typebox';
import { oneOf } from '../api/schema.ts';
import { authorityOf } from '../encoding/authority.ts';
import type { Violation } from './violation.ts';

const actions = ['exchange', 'passthrough', 'deny'] as const;
const noTokenPolicies = ['deny', 'allow', 'client-credentials'] as const;
const mtlsPolicies = ['required', 'none'] as const;

/** One row as it is written. */
export interface RouteText {
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
  /**
   * `required`: by mutual TLS, or not at all. `none`: in plain HTTP. Default: `required` for Services of the cluster where `mtls.mode` is `strict`, else
   * `none`.
   */
  readonly mtls?: (typeof mtlsPolicies)[number];
}

const text = (maxLength: number) => Type.String({ minLength: 1, maxLength });

/** The list as it is written: in the configuration, and in the sidecar's variable `ROUTES`. */
export const RouteTexts = Type.Array(
  Type.Object({
    host: text(253),
    audience: Type.Optional(text(512)),
    scopes: Type.Optional(
      Type.Array(
        Type.String({
          // RFC 6749 section 3.3.
          pattern: String.raw`^[\x21\x23-\x5b\x5d-\x7e]{1,256}$`,
          description:
            'One scope, of printable ASCII without blanks, quotes and backslashes, for example tool-audience.',
        }),
        { maxItems: 32 },
      ),
    ),
    tokenUrl: Type.Optional(text(2048)),
    action: Type.Optional(oneOf(actions)),
    noToken: Type.Optional(oneOf(noTokenPolicies)),
    mtls: Type.Optional(oneOf(mtlsPolicies)),
  }),
  { maxItems: 256 },
);

/** Keys that only an exchange has. */
const exchangeKeys = ['audience', 'scopes', 'tokenUrl', 'noToken'] as const;

/** What the schema cannot say of a list that it accepts; paths begin at the list: `[0].host`. */
export function routeViolations(rows: readonly RouteText[]): readonly Violation[] {
  return rows.flatMap(violations);
}

function violations(row: RouteText, index: number): readonly Violation[] {
  const at = (key: string, message: string | undefined): readonly Violation[] =>
    message === undefined ? [] : [{ path: `[${index}].${key}`, message }];
  const { action = 'exchange', audience, scopes = [], tokenUrl } = row;
  if (row.host === undefined) return at('host', 'is missing');
  const host = at('host', hostProblem(row.host));
  if (action !== 'exchange') {
    const without = action === 'deny' ? ([...exchangeKeys, 'mtls'] as const) : exchangeKeys;
    const idle = without.filter((key) => row[key] !== undefined);
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
  if (/[^\0-\x7f]/.test(glob)) return `must be in ASCII, as clients send it${asciiOf(glob)}`;
  if (authorityOf(glob) === undefined) return 'must be a host, without scheme, user and path';
  const labels = glob.replace(/\.$/, '').split('.');
  if (labels.includes('')) return 'has an empty label';
  if (labels.some((label) => label.includes('**') && label !== '**'))
    return '"**" stands for whole labels, alone between dots';
  return labels.filter((label) => label === '**').length > 1 ? 'may have "**" once' : undefined;
}

/** `: write xn--tda.example` (RFC 5891); nothing for what is no name in any script. */
function asciiOf(glob: string): string {
  const ascii = domainToASCII(glob);
  return ascii === '' ? '' : `: write ${ascii}`;
}
