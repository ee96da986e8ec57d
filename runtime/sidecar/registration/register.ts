/** Registers an agent as an OAuth client of a Keycloak realm, and has the secret that goes with it. */

import type { Json } from '../../encoding/strict-json.ts';
import type { IdpClient, Question } from '../idp/fetch.ts';
import { type ClientAuth, tokenRequest } from '../outbound/token-request.ts';
import { tokenOutcome } from '../outbound/token-response.ts';
import { clientRepresentation, clientsUrl, type Got, internalId, jsonOf, secretIn } from './admin.ts';

export interface Registration {
  readonly idp: IdpClient;
  /** What the agent shall be called. */
  readonly clientId: string;
  readonly tokenUrl: string;
  /** Who may manage clients. */
  readonly admin: Omit<Extract<ClientAuth, { readonly secret: string }>, 'method'>;
}

const timeoutMs = 10_000;

/** Resolves to the client's secret. A client that is there stays as it is; of several who make one at once, all get the same. */
export async function register(registration: Registration): Promise<Got<string>> {
  const { idp, clientId } = registration;
  const clients = clientsUrl(registration.tokenUrl);
  if ('fault' in clients) return clients;
  const bearer = await adminToken(registration);
  if ('fault' in bearer) return bearer;
  const authorization = `Bearer ${bearer.value}`;
  const ask = async (question: Pick<Question, 'method' | 'body'>, path: string, taken: readonly number[]) => {
    const headers: Record<string, string> = { authorization, 'content-type': 'application/json' };
    return jsonOf(await idp.ask({ ...question, url: `${clients.value}${path}`, headers, timeoutMs }), taken);
  };
  const list = () => ask({ method: 'GET' }, `?clientId=${encodeURIComponent(clientId)}`, [200]);
  const before = await list();
  if ('fault' in before) return before;
  let found: Got<Json> = before;
  if (internalId(before.value, clientId) === undefined) {
    const body = JSON.stringify(clientRepresentation(clientId));
    // 409: somebody else made it in between.
    const made = await ask({ method: 'POST', body }, '', [201, 409]);
    if ('fault' in made) return made;
    found = await list();
    if ('fault' in found) return found;
  }
  const id = internalId(found.value, clientId);
  if (id === undefined) return { fault: `Keycloak does not show the client ${clientId}, which it has taken` };
  const secret = await ask({ method: 'GET' }, `/${id}/client-secret`, [200]);
  return 'fault' in secret ? secret : secretIn(secret.value);
}

async function adminToken({ idp, tokenUrl, admin }: Registration): Promise<Got<string>> {
  const wish = { audience: '', scopes: [], tokenUrl: '', subject: undefined };
  const request = tokenRequest(wish, { method: 'client_secret_basic', ...admin });
  const outcome = tokenOutcome(wish, await idp.ask({ method: 'POST', url: tokenUrl, ...request, timeoutMs }), 0);
  if (outcome.kind === 'token') return { value: outcome.token };
  if (outcome.kind === 'unavailable') return { fault: outcome.description };
  const { code } = outcome;
  return {
    fault: `Keycloak does not take the admin credentials (${code === '' ? 'no OAuth error' : code}): the Secret that identity.adminCredentialsSecret names must hold a client of this realm that has a service account`,
  };
}
