/** A real Keycloak that pods reach by the name of a Service, with a realm of one agent, one tool and one user. */

import { credentialsSecretName } from '../../runtime/api/names.ts';
import { credentialFiles } from '../../runtime/sidecar/outbound/credentials.ts';
import type { ClientCredentials } from '../lab/keycloak/admin.ts';
import { type Keycloak, startKeycloak } from '../lab/keycloak/keycloak.ts';
import { applyAll } from '../support/operator-platform.ts';
import { createNamespace, type Written } from '../support/workload-objects.ts';
import type { SidecarBed } from './bed.ts';
import { serviceTo } from './objects.ts';

/** Where the pods know it. */
export const providerUrl = 'http://keycloak.idp.svc:8080';
export const realm = 'agents';

const user = { username: 'alice', password: 'alice-password' };

export interface Provider extends Keycloak {
  /** The agent's own client, as its registration would make it. */
  readonly agent: ClientCredentials;
  /** The user's id, which is the subject of her tokens. */
  readonly userId: string;
  /** A new token of the user, from an application whose tokens are for the agent. */
  userToken(): Promise<string>;
  /** A new token of the user that is for nobody. */
  strayToken(): Promise<string>;
}

/** It runs beside the lab and ends with the test; the lab's own end takes the Service away. */
export async function startProvider(bed: Pick<SidecarBed, 'client' | 'hostAddress'>, agentId: string) {
  const keycloak = await startKeycloak({ host: bed.hostAddress, hostname: providerUrl, isKept: true });
  try {
    await createNamespace(bed.client, 'idp');
    const port = Number(new URL(keycloak.url).port);
    await applyAll(bed.client, serviceTo('idp', 'keycloak', { address: bed.hostAddress, port }));
    return { ...keycloak, ...(await makeRealm(keycloak, agentId)) } satisfies Provider;
  } catch (error) {
    await keycloak.stop();
    throw error;
  }
}

async function makeRealm({ admin }: Keycloak, agentId: string) {
  await admin.createRealm(realm);
  await admin.createAudienceScope(realm, 'agent-aud', agentId);
  await admin.createAudienceScope(realm, 'tool-aud', 'tool');
  await admin.createClient(realm, { id: 'tool' });
  const agent = await admin.createClient(realm, { id: agentId, mayExchange: true, optionalScopes: ['tool-aud'] });
  const fields = { directAccessGrantsEnabled: true };
  const application = await admin.createClient(realm, { id: 'application', defaultScopes: ['agent-aud'], fields });
  const stray = await admin.createClient(realm, { id: 'stray', fields });
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
  const [found] = (await admin.request('GET', `/realms/${realm}/users?username=${username}&exact=true`)) as readonly {
    readonly id: string;
  }[];
  const tokenOf = (client: ClientCredentials) => admin.token(realm, client, { grant_type: 'password', ...user });
  return {
    agent,
    userId: found?.id ?? '',
    userToken: () => tokenOf(application),
    strayToken: () => tokenOf(stray),
  };
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
