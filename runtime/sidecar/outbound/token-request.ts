/** The requests for tokens: exchange (RFC 8693) and client credentials (RFC 6749 section 4.4), with each way to say who asks. */

import type { Target } from './routes.ts';

/** How the agent's own client proves itself. */
export type ClientAuth =
  | { readonly method: 'client_secret_basic'; readonly id: string; readonly secret: string }
  /** A JWT-SVID for the issuer. It says who its holder is, so no client id goes with it. */
  | { readonly method: 'jwt-spiffe'; readonly assertion: string };

export type ClientAuthMethod = ClientAuth['method'];

/** A token that is needed. */
export type TokenWish = Target & {
  /** With a subject: for that caller, by exchange. Without: for the agent itself. */
  readonly subject: { readonly token: string; readonly expiresAtMs: number } | undefined;
};

export interface TokenRequest {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const accessToken = 'urn:ietf:params:oauth:token-type:access_token';

/** The form as it is posted to the token URL. */
export function tokenRequest({ subject, audience, scopes }: TokenWish, auth: ClientAuth): TokenRequest {
  const form = {
    ...(subject === undefined
      ? { grant_type: 'client_credentials' }
      : {
          grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
          subject_token: subject.token,
          subject_token_type: accessToken,
          requested_token_type: accessToken,
        }),
    ...(audience === '' ? {} : { audience }),
    ...(scopes.length === 0 ? {} : { scope: scopes.join(' ') }),
    ...clientFields(auth),
  };
  return {
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...clientHeaders(auth) },
    body: new URLSearchParams(form).toString(),
  };
}

function clientFields(auth: ClientAuth): Readonly<Record<string, string>> {
  if (auth.method !== 'jwt-spiffe') return {};
  return {
    client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-spiffe',
    client_assertion: auth.assertion,
  };
}

/** RFC 6749 section 2.3.1: both are written as in a form before they are joined, or the colon of a SPIFFE ID would end the name. */
function clientHeaders(auth: ClientAuth): Readonly<Record<string, string>> {
  if (auth.method !== 'client_secret_basic') return {};
  const pair = [auth.id, auth.secret].map(formEncoded).join(':');
  return { authorization: `Basic ${Buffer.from(pair).toString('base64')}` };
}

const formEncoded = (value: string): string => new URLSearchParams({ '': value }).toString().slice(1);
