/** The agent's own OAuth client: what its files say, and how it proves itself with that. */

import type { OwnAuth } from './fetch.ts';
import type { ClientAuthMethod } from './token-request.ts';

/** The files of a credentials directory, as the operator and Keycloak's tools name them. */
export const credentialFiles = { id: 'client-id.txt', secret: 'client-secret.txt' } as const;

export type Credentials =
  /** `secret` is undefined where a client proves itself with its SPIFFE identity. */
  | { readonly kind: 'held'; readonly id: string; readonly secret: string | undefined }
  /** `why` is a sentence for the administrator. */
  | { readonly kind: 'missing'; readonly why: string };

/** No directory is mounted. */
export const noCredentials: Credentials = {
  kind: 'missing',
  why: 'this pod has no OAuth client: CREDENTIALS_DIR is not set; turn client registration on for it',
};

export interface CredentialTexts {
  readonly id: string | undefined;
  readonly secret: string | undefined;
}

const longest = 4_096;

/** What two files mean. The line break that editors leave at an end is no part of a value. */
export function credentialsOf(texts: CredentialTexts, directory: string): Credentials {
  const [id, secret] = [trimmed(texts.id), trimmed(texts.secret)];
  const missing = (why: string): Credentials => ({ kind: 'missing', why });
  if (id === undefined || id === '') {
    const state = id === undefined ? 'is not there yet' : 'is empty';
    return missing(`the OAuth client of this pod is not known: ${directory}/${credentialFiles.id} ${state}`);
  }
  for (const [name, value] of [
    ['id', id],
    ['secret', secret ?? ''],
  ] as const) {
    const fault = faultOf(value);
    if (fault !== undefined) return missing(`${directory}/${credentialFiles[name]} ${fault}`);
  }
  return { kind: 'held', id, secret: secret === '' ? undefined : secret };
}

const trimmed = (text: string | undefined): string | undefined => text?.replace(/\s+$/, '');

function faultOf(value: string): string | undefined {
  if (value.length > longest) return `is longer than ${longest} characters`;
  // oxlint-disable-next-line no-control-regex -- they are what is looked for
  return /[\x00-\x1f\x7f]/.test(value) ? 'holds control characters' : undefined;
}

/** A JWT-SVID for an audience, from the Workload API; `unavailable`: why there is none, in a sentence. */
export type Assertion = (audience: string) => Promise<{ readonly token: string } | { readonly unavailable: string }>;

export interface OwnAuthOptions {
  readonly method: ClientAuthMethod;
  readonly credentials: () => Credentials;
  /** Asked only with the method `jwt-spiffe`. */
  readonly assertion: Assertion;
  /** The audience of the assertion: what the identity provider calls itself. */
  readonly issuer: string;
}

/** Who asks for tokens, as things are at each call. */
export function createOwnAuth({ method, credentials, assertion, issuer }: OwnAuthOptions): () => Promise<OwnAuth> {
  if (method === 'jwt-spiffe') {
    return async () => {
      const answer = await assertion(issuer);
      return 'unavailable' in answer ? { missing: answer.unavailable } : { method, assertion: answer.token };
    };
  }
  return async () => {
    const held = credentials();
    if (held.kind === 'missing') return { missing: held.why };
    if (held.secret === undefined)
      return { missing: `the OAuth client of this pod has no secret: ${credentialFiles.secret} is not there yet` };
    return { method, id: held.id, secret: held.secret };
  };
}
