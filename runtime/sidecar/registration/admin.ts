/** Keycloak's admin REST API as far as a registration needs it: where it is, what is asked, and what the answers mean. */

import { isJsonObject, type Json, type JsonObject, parseStrictJson } from '../../encoding/strict-json.ts';
import type { Answer, NoAnswer } from '../idp/fetch.ts';

/** A value, or a sentence for the administrator that says why there is none and what to do. */
export type Got<T> = { readonly value: T } | { readonly fault: string };

const tokenPath = /^(https?:\/\/.+)\/realms\/([^/]+)\/protocol\/openid-connect\/token$/;

/** Where the clients of the realm are, from where its tokens come from; a token URL of another form names no Keycloak. */
export function clientsUrl(tokenUrl: string): Got<string> {
  const [, server, realm] = tokenPath.exec(tokenUrl) ?? [];
  if (server === undefined || realm === undefined) {
    return {
      fault: `TOKEN_URL is ${tokenUrl}, from which no realm of Keycloak can be told: leave tokenExchange.tokenUrl empty and set identity.url and identity.realm`,
    };
  }
  return { value: `${server}/admin/realms/${realm}/clients` };
}

/** An agent's client: it has a secret, gets tokens of its own, and exchanges its callers' (RFC 8693). No user logs in to it. */
export function clientRepresentation(clientId: string): JsonObject {
  return {
    clientId,
    name: clientId,
    description: 'An agent, registered by its pod',
    protocol: 'openid-connect',
    enabled: true,
    publicClient: false,
    serviceAccountsEnabled: true,
    standardFlowEnabled: false,
    implicitFlowEnabled: false,
    directAccessGrantsEnabled: false,
    attributes: { 'standard.token.exchange.enabled': 'true' },
  };
}

const limits = { bytes: 262_144, depth: 16 };

/** The JSON of an answer with one of the statuses that are `taken`; null where it has no body. */
export function jsonOf(answer: Answer | NoAnswer, taken: readonly number[]): Got<Json> {
  if (answer.kind === 'no-answer') return { fault: `Keycloak ${answer.why}` };
  const { status, body } = answer;
  if (!taken.includes(status)) return { fault: refusals[status] ?? `Keycloak answers with status ${status}` };
  if (body.length === 0) return { value: null };
  const parsed = parseStrictJson(body, limits);
  return 'value' in parsed ? parsed : { fault: `Keycloak answers with no JSON: ${parsed.fault.message}` };
}

const role = 'give the service account of its client the role manage-clients of the realm’s client realm-management';

const refusals: Readonly<Record<number, string>> = {
  401: `Keycloak does not take the token of the admin credentials: ${role}`,
  403: `the admin credentials may not manage clients: ${role}`,
  404: 'Keycloak has no such realm: check identity.url and identity.realm',
};

/** The id by which Keycloak knows the client of that very name; undefined: there is none. It goes into paths, so only its own form is taken. */
export function internalId(list: Json, clientId: string): string | undefined {
  const found = Array.isArray(list)
    ? (list as readonly Json[]).find((it) => isJsonObject(it) && it['clientId'] === clientId)
    : undefined;
  const id = isJsonObject(found) ? found['id'] : undefined;
  return typeof id === 'string' && /^[\w-]{1,64}$/.test(id) ? id : undefined;
}

/** The secret in the answer to a question for it. */
export function secretIn(value: Json): Got<string> {
  const secret = isJsonObject(value) ? value['value'] : undefined;
  // Printable, so that a file of one line holds it.
  if (typeof secret === 'string' && /^[\x21-\x7e]{1,4096}$/.test(secret)) return { value: secret };
  return { fault: 'Keycloak gives no secret for the client: it must be confidential, with a client secret' };
}
