/** Mode proxy-sidecar on a real kubelet, in a namespace that gives no pod a capability: ordinary clients get their tokens, and who is asked for one. */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { kinds } from '../../runtime/api/kinds.ts';
import { canRunNode } from '../lab/up.ts';
import { applyAll } from '../support/operator-platform.ts';
import { eventually } from '../support/engine-bed.ts';
import { createNamespace, namespaceDefaults, putConfigMap, runtimeFor } from '../support/workload-objects.ts';
import { type SidecarBed, startSidecarBed } from './bed.ts';
import { credentialsSecret } from '../support/identity-provider.ts';
import { deployment, service } from './objects.ts';
import { agent, provider, tool } from './programs.ts';
import { createIssuer } from '../support/issuer.ts';

const skip = !canRunNode() && 'a node needs root on Linux';
const namespace = 'restricted';
const issuer = `http://idp.${namespace}.svc:8080/realms/agents`;
const toTool = `http://tool.${namespace}.svc:8080/t`;

const configuration = `
identity:
  url: http://idp.${namespace}.svc:8080
  realm: agents
tokenExchange:
  routes:
    - host: tool.${namespace}.svc
      audience: tool
`;

describe('a pod in mode proxy-sidecar where Pod Security is restricted', { skip, timeout: 600_000 }, () => {
  let bed: SidecarBed;
  let token: string;

  before(async () => {
    bed = await startSidecarBed(namespace);
    await createNamespace(bed.client, namespace, { 'pod-security.kubernetes.io/enforce': 'restricted' });
    const { jwks, tokenFor } = await createIssuer(issuer);
    token = await tokenFor('agent');
    await bed.untilOperatorRuns();
    await putConfigMap(bed.client, namespaceDefaults(namespace, configuration));
    const readinessProbe = { httpGet: { path: '/ready', port: 8080 }, periodSeconds: 1 };
    const own = deployment({ namespace, name: 'agent', program: ['-e', agent], readinessProbe });
    await applyAll(bed.client, [
      deployment({ namespace, name: 'idp', program: ['-e', provider(jwks)] }),
      deployment({ namespace, name: 'tool', program: ['-e', tool] }),
      service(namespace, 'idp'),
      service(namespace, 'tool'),
      service(namespace, 'agent', { targetPort: 'rossoctl-in' }),
      credentialsSecret(namespace, 'agent', { id: 'agent', secret: 'agent-secret' }),
      own,
      runtimeFor(own, { type: 'agent', authBridgeMode: 'proxy-sidecar', identity: { allowedAudiences: ['agent'] } }),
    ]);
    await bed.untilInjected('agent');
  });
  after(() => bed?.stop());

  async function addressOf(app: string): Promise<string> {
    const [pod] = await bed.podsOf(app);
    return (pod?.status as { readonly podIP?: string } | undefined)?.podIP ?? '';
  }

  test('it runs without any init container but the proxy itself, and status says that nothing is enforced', async () => {
    const [pod] = await bed.podsOf('agent');
    assert.deepEqual(
      pod?.spec.initContainers?.map(({ name }) => name),
      ['envoy-proxy'],
    );
    await eventually(async () => {
      const { status } = await bed.client.get(kinds.agentRuntime, { namespace, name: 'agent' });
      assert.equal(status?.phase, 'Active');
      const found = status?.conditions?.find(({ type }) => type === 'TrafficCaptured');
      assert.deepEqual([found?.status, found?.reason], ['False', 'ExplicitProxy']);
    });
  });

  test('by the Service every caller is asked for a token', async () => {
    const refused = await bed.ask('tool', 'http://agent:8080/x');
    assert.equal(refused.status, 401);
    assert.match(refused.body ?? '', /"error":"missing_token"/);
    const told = await bed.ask('tool', 'http://agent:8080/x?y=1', token);
    assert.deepEqual(
      [told.status, JSON.parse(told.body ?? '')],
      [200, { url: '/x?y=1', authorization: `Bearer ${token}` }],
    );
    assert.equal((await bed.ask('tool', 'http://agent:8080/.well-known/agent-card.json')).status, 200);
  });

  test("an unmodified client's call is exchanged: the tool sees a token for itself", async () => {
    const told = await bed.ask('tool', `http://agent:8080/call?u=${toTool}`, token);
    const passed = JSON.parse(told.body ?? '') as { readonly status: number; readonly body: string };
    assert.equal(passed.status, 200, told.body ?? '');
    assert.deepEqual(JSON.parse(passed.body), { url: '/t', authorization: 'Bearer for-tool-by-agent' });
  });

  test('without a token the route refuses, and TLS to the API server goes past the proxy', async () => {
    const told = await bed.ask('agent', toTool);
    assert.deepEqual([told.status, JSON.parse(told.body ?? '').error], [401, 'missing_token']);
    assert.equal((await bed.ask('agent', 'https://kubernetes.default.svc/version')).status, 200);
    const print = ['/usr/bin/node', '-p', 'process.env.NO_PROXY'];
    const direct = await bed.kubectl('exec', 'deploy/agent', '-c', 'app', '--', ...print);
    assert.match(direct, /^\S*,kubernetes\.default\.svc,\S*,\d+\.\d+\.\d+\.\d+\n$/);
  });

  test('nobody outside of the pod uses its proxy; the application’s own port is open, as is said', async () => {
    const address = await addressOf('agent');
    assert.equal((await bed.ask('tool', `http://${address}:15123/`)).error, 'ECONNREFUSED');
    assert.equal((await bed.ask('tool', `http://${address}:15125/readyz`)).status, 200);
    assert.equal((await bed.ask('tool', `http://${address}:15124/x`)).status, 401);
    assert.equal((await bed.ask('tool', `http://${address}:8080/x`)).status, 200);
  });
});
