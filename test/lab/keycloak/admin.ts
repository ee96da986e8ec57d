// Keycloak's admin REST API, as far as tests and the demo set a realm up.
import { LabError } from '../lab-error.ts';

/** A client with a secret. */
export interface ClientCredentials {
  readonly id: string;
  readonly secret: string;
}

/** A confidential client to be made. */
export interface ClientWish {
  readonly id: string;
  /** May exchange tokens (RFC 8693) and get some for itself. Default false. */
  readonly mayExchange?: boolean;
  /** Names of client scopes it may ask for. */
  readonly optionalScopes?: readonly string[];
  /** Names of client scopes it always gets. */
  readonly defaultScopes?: readonly string[];
  /** Seconds its tokens live. Default: the realm's. */
  readonly tokenSeconds?: number;
  /** More fields of a ClientRepresentation. */
  readonly fields?: Readonly<Record<string, unknown>>;
  /** More attributes of it. */
  readonly attributes?: Readonly<Record<string, string>>;
}

export interface KeycloakAdmin {
  /** A realm whose tokens live `tokenSeconds` (default 300); resolves to its issuer. */
  createRealm(realm: string, options?: { readonly tokenSeconds?: number }): Promise<string>;
  /** A client scope that puts `audience` into the `aud` of tokens. */
  createAudienceScope(realm: string, scope: string, audience: string): Promise<void>;
  createClient(realm: string, client: ClientWish): Promise<ClientCredentials>;
  /** Lets the client's service account make and change clients of the realm. */
  allowClientManagement(realm: string, client: string): Promise<void>;
  /** Another secret; the old one is good no more. */
  renewSecret(realm: string, client: string): Promise<ClientCredentials>;
  /** A new key signs from now on; the ones before it are gone. Resolves to the name of the new key's component. */
  rotateKeys(realm: string): Promise<string>;
  /** A token of the client for itself. */
  token(realm: string, client: ClientCredentials, parameters?: Readonly<Record<string, string>>): Promise<string>;
  /** Anything else: the JSON of the answer, or of nothing. Throws for an answer that is no success. */
  request(method: string, path: string, body?: unknown): Promise<unknown>;
}

interface Named {
  readonly id: string;
  readonly name?: string;
  readonly clientId?: string;
}

/** Talks as the client of the realm `master` that the server was started with. `named`: what the server calls itself, if not by its URL. */
export function keycloakAdmin(url: string, bootstrap: ClientCredentials, named = url): KeycloakAdmin {
  // A token lives for a minute, so each request has its own.
  async function request(method: string, path: string, body?: unknown): Promise<unknown> {
    const bearer = await token('master', bootstrap);
    const answer = await fetch(`${url}/admin${path}`, {
      method,
      headers: { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return jsonOf(answer, `${method} ${path}`);
  }

  async function token(realm: string, { id, secret }: ClientCredentials, parameters = {}): Promise<string> {
    const form = { grant_type: 'client_credentials', client_id: id, client_secret: secret, ...parameters };
    const answer = await fetch(`${url}/realms/${realm}/protocol/openid-connect/token`, {
      method: 'POST',
      body: new URLSearchParams(form),
    });
    const { access_token } = (await jsonOf(answer, `a token of ${id}`)) as { readonly access_token: string };
    return access_token;
  }

  const list = async (path: string) => (await request('GET', path)) as readonly Named[];

  async function clientOf(realm: string, client: string): Promise<Named> {
    return only(await list(`/realms/${realm}/clients?clientId=${encodeURIComponent(client)}`), client);
  }

  return {
    request,
    token,
    createRealm: async (realm, { tokenSeconds = 300 } = {}) => {
      await request('POST', '/realms', {
        realm,
        enabled: true,
        sslRequired: 'none',
        accessTokenLifespan: tokenSeconds,
      });
      return `${named}/realms/${realm}`;
    },
    createAudienceScope: async (realm, name, audience) => {
      await request('POST', `/realms/${realm}/client-scopes`, {
        name,
        protocol: 'openid-connect',
        protocolMappers: [audienceMapper(audience)],
      });
    },
    createClient: async (realm, wish) => {
      await request('POST', `/realms/${realm}/clients`, clientOfWish(wish));
      const { id } = await clientOf(realm, wish.id);
      const scopes = await list(`/realms/${realm}/client-scopes`);
      for (const kind of ['optional', 'default'] as const) {
        for (const name of wish[`${kind}Scopes`] ?? []) {
          const scope = only(
            scopes.filter((each) => each.name === name),
            name,
          );
          await request('PUT', `/realms/${realm}/clients/${id}/${kind}-client-scopes/${scope.id}`);
        }
      }
      const { value } = (await request('GET', `/realms/${realm}/clients/${id}/client-secret`)) as {
        readonly value: string;
      };
      return { id: wish.id, secret: value };
    },
    allowClientManagement: async (realm, client) => {
      const [{ id }, management] = [await clientOf(realm, client), await clientOf(realm, 'realm-management')];
      const at = `/realms/${realm}/clients`;
      const account = (await request('GET', `${at}/${id}/service-account-user`)) as Named;
      const role = await request('GET', `${at}/${management.id}/roles/manage-clients`);
      await request('POST', `/realms/${realm}/users/${account.id}/role-mappings/clients/${management.id}`, [role]);
    },
    renewSecret: async (realm, client) => {
      const { id } = await clientOf(realm, client);
      const { value } = (await request('POST', `/realms/${realm}/clients/${id}/client-secret`)) as {
        readonly value: string;
      };
      return { id: client, secret: value };
    },
    rotateKeys: async (realm) => {
      const keys = `/realms/${realm}/components?type=org.keycloak.keys.KeyProvider`;
      const before = (await list(keys)).filter(({ name = '' }) => /^rsa-(generated|[0-9]+)$/.test(name));
      const { id } = (await request('GET', `/realms/${realm}`)) as Named;
      const name = `rsa-${Date.now()}`;
      await request('POST', `/realms/${realm}/components`, signingKey(name, id));
      for (const old of before) await request('DELETE', `/realms/${realm}/components/${old.id}`);
      return name;
    },
  };
}

function audienceMapper(audience: string): object {
  return {
    name: `audience ${audience}`,
    protocol: 'openid-connect',
    protocolMapper: 'oidc-audience-mapper',
    config: { 'included.custom.audience': audience, 'access.token.claim': 'true', 'id.token.claim': 'false' },
  };
}

function clientOfWish({ id, mayExchange = false, tokenSeconds, fields, attributes }: ClientWish): object {
  return {
    clientId: id,
    enabled: true,
    publicClient: false,
    serviceAccountsEnabled: true,
    standardFlowEnabled: false,
    ...fields,
    attributes: {
      ...attributes,
      'standard.token.exchange.enabled': String(mayExchange),
      ...(tokenSeconds === undefined ? {} : { 'access.token.lifespan': String(tokenSeconds) }),
    },
  };
}

function signingKey(name: string, parentId: string): object {
  return {
    name,
    parentId,
    providerId: 'rsa-generated',
    providerType: 'org.keycloak.keys.KeyProvider',
    config: { priority: ['1000'], enabled: ['true'], active: ['true'], algorithm: ['RS256'], keySize: ['2048'] },
  };
}

function only(found: readonly Named[], name: string): Named {
  const [first] = found;
  if (first === undefined) throw new LabError(`Keycloak has no ${name}`);
  return first;
}

async function jsonOf(answer: Response, what: string): Promise<unknown> {
  const text = await answer.text();
  if (!answer.ok) throw new LabError(`Keycloak refused ${what}: ${answer.status} ${text.slice(0, 500)}`);
  return text === '' ? undefined : JSON.parse(text);
}
