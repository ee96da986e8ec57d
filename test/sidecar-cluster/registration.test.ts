/** `client-registration` in a pod on a real kubelet: an agent that nobody registered has a client of a real Keycloak, and tokens of its own. */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { canRunNode } from '../lab/up.ts';
import { eventually } from '../support/engine-bed.ts';
import { type Provider, providerUrl, realm, startProvider } from '../support/identity-provider.ts';
import { applyAll } from '../support/operator-platform.ts';
import { createNamespace, namespaceDefaults, putConfigMap, runtimeFor } from '../support/workload-objects.ts';
import { type SidecarBed, startSidecarBed, type Told } from './bed.ts';
import { deployment, service } from './objects.ts';
import { agent, tool } from './programs.ts';

const skip = !canRunNode() && 'a node needs root on Linux';
const namespace = 'registered';

const configuration = `
identity:
  url: ${providerUrl}
  realm: ${realm}
  adminCredentialsSecret: registrar
clientRegistration:
  mode: sidecar
tokenExchange:
  routes:
    - host: tool.${namespace}.svc
      scopes: [profile]
      noToken: client-credentials
`;

describe('an agent that registers itself', { skip, timeout: 600_000 }, () => {
  let bed: SidecarBed;
  let provider: Provider;

  before(async () => {
    bed = await startSidecarBed(namespace);
    [provider] = await Promise.all([startProvider(bed.place, { agents: [], tools: [] }), bed.untilOperatorRuns()]);
    await createNamespace(bed.client, namespace);
    const { id, secret } = await provider.admin.createClient(realm, { id: 'registrar' });
    await provider.admin.allowClientManagement(realm, id);
    const admin = { 'client-id.txt': id, 'client-secret.txt': secret };
    await putConfigMap(bed.client, namespaceDefaults(namespace, configuration));
    const own = deployment({ namespace, name: 'agent', program: ['-e', agent] });
    await applyAll(bed.client, [
      { apiVersion: 'v1', kind: 'Secret', metadata: { namespace, name: 'registrar' }, stringData: admin },
      deployment({ namespace, name: 'tool', program: ['-e', tool] }),
      service(namespace, 'tool'),
      own,
      runtimeFor(own),
    ]);
    await bed.untilInjected('agent');
  });
  after(async () => {
    await provider?.stop();
    await bed?.stop();
  });

  test('it has a client by its own name, with which it gets tokens', async () => {
    let told: Told = {};
    await eventually(async () => {
      told = await bed.ask('agent', `http://tool.${namespace}.svc:8080/own`);
      assert.equal(told.status, 200, told.body ?? told.error ?? '');
    }, 90_000);
    const { authorization } = JSON.parse(told.body ?? '') as { readonly authorization: string };
    const [, claims = ''] = authorization.split('.');
    const { azp } = JSON.parse(Buffer.from(claims, 'base64url').toString()) as { readonly azp: string };
    assert.equal(azp, `${namespace}/agent`);
  });

  test('its log says so, and the container has not been restarted', async () => {
    const log = await bed.kubectl('logs', 'deploy/agent', '-c', 'client-registration');
    assert.match(log, /"client":"registered\/agent".*the agent is registered/);
    const [pod] = await bed.podsOf('agent');
    const { initContainerStatuses = [] } = (pod?.status ?? {}) as {
      readonly initContainerStatuses?: readonly { readonly name: string; readonly restartCount: number }[];
    };
    const [registrar] = initContainerStatuses.filter(({ name }) => name === 'client-registration');
    assert.equal(registrar?.restartCount, 0);
  });
});
