/** A real Keycloak that pods reach by the name of a Service, with a realm of agents, tools and one user. */

import { credentialsSecretName } from '../../runtime/api/names.ts';
import { credentialFiles } from '../../runtime/sidecar/outbound/credentials.ts';
import type { ClientCredentials, KeycloakAdmin } from '../lab/keycloak/admin.ts';
import { type Keycloak, startKeycloak } from '../lab/keycloak/keycloak.ts';
import type { Written } from './workload-objects.ts';

/** Where the pods know it. */
export const providerUrl = 'http://keycloak.idp.svc:8080';
export const realm = 'agents';

const user = { username: 'alice', password: 'alice-password' };

export interface Members {
  /** Client ids of agents, as their registration makes them: `namespace/workload`. */
  readonly agents: readonly string[];
  /** Audiences; each is asked for by the scope `<audience>-aud`. */
  readonly tools: readonly string[];
}

export interface ProviderPlace {
  /** Where pods reach processes of this machine. */
  readonly hostAddress: string;
  /** Applies objects to the cluster. */
  readonly apply: (objects: readonly Written[]) => Promise<unknown>;
}

/** It runs beside the lab and ends with `stop()`; the lab's own end takes the Service away. */
export async function startProvider({ hostAddress, apply }: ProviderPlace, members: Members) {
  const keycloak = await startKeycloak({ host: hostAddress, hostname: providerUrl, isKept: true });
  try {
    const port = Number(new URL(keycloak.url).port);
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'idp' } };
    await apply([namespace, ...serviceTo('idp', 'keycloak', { address: hostAddress, port })]);
    return { ...keycloak, ...(await makeRealm(keycloak, members)) };
  } catch (error) {
    await keycloak.stop();
    throw error;
  }
}

export type Provider = Awaited<ReturnType<typeof startProvider>>;

const scopeFor = (agent: string): string => `for-${agent.replace('/', '-')}`;

async function makeRealm({ admin }: Keycloak, { agents, tools }: Members) {
  await admin.createRealm(realm);
  for (const tool of tools) {
    await admin.createAudienceScope(realm, `${tool}-aud`, tool);
    await admin.createClient(realm, { id: tool });
  }
  const clients = new Map<string, ClientCredentials>();
  const optionalScopes = tools.map((tool) => `${tool}-aud`);
  for (const id of agents) {
    await admin.createAudienceScope(realm, scopeFor(id), id);
    clients.set(id, await admin.createClient(realm, { id, mayExchange: true, optionalScopes }));
  }
  const application = await admin.createClient(realm, {
    id: 'application',
    optionalScopes: agents.map(scopeFor),
    fields: { directAccessGrantsEnabled: true },
  });
  return {
    /** An agent's own client. */
    clientOf: (agent: string): ClientCredentials => {
      const client = clients.get(agent);
      if (client === undefined) throw new Error(`${agent} is none of the agents`);
      return client;
    },
    /** The user's id, which is the subject of her tokens. */
    userId: await makeUser(admin),
    /** A new token of the user, from her application; for an agent, or for nobody. */
    userToken: (agent?: string): Promise<string> =>
      admin.token(realm, application, {
        grant_type: 'password',
        ...user,
        ...(agent === undefined ? {} : { scope: scopeFor(agent) }),
      }),
  };
}

async function makeUser(admin: KeycloakAdmin): Promise<string> {
  const { username, password } = user;
  await admin.request('POST', `/realms/${realm}/users`, {
    username,
    enabled: true,
    email: 'alice@example.test',
    emailVerified: true,
    firstName: 'Alice',
    lastName: 'Example',
    credentials: [{ type: 'password', value: password }],
  });
  const found = await admin.request('GET', `/realms/${realm}/users?username=${username}&exact=true`);
  const [alice] = found as readonly { readonly id: string }[];
  if (alice === undefined) throw new Error(`Keycloak has no user ${username}`);
  return alice.id;
}

/** The Secret that holds a workload's OAuth client, as its registration writes it. */
export function credentialsSecret(namespace: string, workload: string, client: ClientCredentials): Written {
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { namespace, name: credentialsSecretName(namespace, workload) },
    type: 'Opaque',
    stringData: { [credentialFiles.id]: client.id, [credentialFiles.secret]: client.secret },
  };
}

/** A Service that leads out of the cluster, to one address. */
function serviceTo(namespace: string, name: string, place: { readonly address: string; readonly port: number }) {
  const ports = [{ name: 'http', port: place.port, protocol: 'TCP' }];
  return [
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { namespace, name },
      spec: { ports: [{ name: 'http', port: 8080, targetPort: place.port, protocol: 'TCP' }] },
    },
    {
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: { namespace, name: `${name}-1`, labels: { 'kubernetes.io/service-name': name } },
      addressType: 'IPv4',
      endpoints: [{ addresses: [place.address], conditions: { ready: true } }],
      ports,
    },
  ] satisfies readonly Written[];
}
