/** The whole journey with a real Keycloak on a real kubelet: a user's token to the agent, the agent's call with a token made for the tool; by plain programs, and by the public SDKs. */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { TaskState } from '@a2a-js/sdk';
import { kinds } from '../../runtime/api/kinds.ts';
import type { ClientCredentials } from '../lab/keycloak/admin.ts';
import { loadImage } from '../lab/load-image.ts';
import { canRunNode } from '../lab/up.ts';
import { eventually } from '../support/engine-bed.ts';
import { applyAll } from '../support/operator-platform.ts';
import { namespaceDefaults, putConfigMap, runtimeFor } from '../support/workload-objects.ts';
import { type SidecarBed, startSidecarBed, type Told } from './bed.ts';
import { credentialsSecret, type Provider, providerUrl, realm, startProvider } from '../support/identity-provider.ts';
import { deployment, service } from './objects.ts';
import { agent, tool } from './programs.ts';
import { callAgent, refusalOf } from './sdk/caller.ts';
import { sdkWorkloads, writeSdkImage } from './sdk/workloads.ts';

const skip = !canRunNode() && 'a node needs root on Linux';
const namespace = 'team1';
const agentId = `${namespace}/agent`;
const plannerId = `${namespace}/planner`;
const members = { agents: [agentId, plannerId], tools: ['tool', 'clock'] };
const nodePort = 30_080;
const plannerPort = 30_081;
const toTool = `/call?u=http://tool.${namespace}.svc:8080/t`;

const configuration = `
identity:
  url: ${providerUrl}
  realm: ${realm}
tokenExchange:
  routes:
    - host: tool.${namespace}.svc
      audience: tool
      scopes: [tool-aud]
    - host: ledger.${namespace}.svc
      scopes: [tool-aud]
      noToken: client-credentials
    - host: clock.${namespace}.svc
      audience: clock
      scopes: [clock-aud]
`;

describe('an agent, a tool and Keycloak', { skip, timeout: 600_000 }, () => {
  let bed: SidecarBed;
  let provider: Provider;
  let plannerUrl: string;
  let pod: string | undefined;

  before(async () => {
    bed = await startSidecarBed(namespace);
    plannerUrl = `http://${bed.nodeAddress}:${plannerPort}/`;
    [provider] = await Promise.all([startProvider(bed.place, members), bed.untilOperatorRuns()]);
    await loadImage(bed.name, await writeSdkImage(bed.folder));
    await putConfigMap(bed.client, namespaceDefaults(namespace, configuration));
    const readinessProbe = { httpGet: { path: '/ready', port: 8080 }, periodSeconds: 1 };
    const own = deployment({ namespace, name: 'agent', program: ['-e', agent], readinessProbe });
    await applyAll(bed.client, [
      deployment({ namespace, name: 'tool', program: ['-e', tool] }),
      service(namespace, 'tool'),
      service(namespace, 'tool', { name: 'ledger' }),
      own,
      service(namespace, 'agent', { nodePort }),
      runtimeFor(own),
      credentialsSecret(namespace, 'planner', provider.clientOf(plannerId)),
      ...sdkWorkloads(namespace, plannerUrl),
    ]);
    pod = (await bed.untilInjected('agent')).metadata.name;
  });
  after(async () => {
    await provider?.stop();
    await bed?.stop();
  });

  /** What somebody outside of the cluster is told by the agent. */
  async function call(path: string, token?: string): Promise<Told> {
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
    const answer = await fetch(`http://${bed.nodeAddress}:${nodePort}${path}`, {
      headers,
      signal: AbortSignal.timeout(20_000),
    });
    return { status: answer.status, body: await answer.text() };
  }

  /** What the tool was sent when the agent called it for whoever has this token. */
  async function callTool(token: string): Promise<Told> {
    const told = await call(toTool, token);
    assert.equal(told.status, 200, told.body ?? '');
    return JSON.parse(told.body ?? '') as Told;
  }

  const seesTool = async (token: string) => claimsSent(await callTool(token));

  /** Writes the agent's client, and has the kubelet look at the pod now instead of within a minute. */
  async function register(client: ClientCredentials): Promise<void> {
    await applyAll(bed.client, [credentialsSecret(namespace, 'agent', client)]);
    const at = { kind: kinds.pod, namespace, name: pod ?? '' };
    await bed.client.mergePatch(at, { metadata: { annotations: { 'test/secret': client.secret.slice(0, 4) } } });
  }

  test('until the agent is registered it says what is awaited, and from then on it serves', async () => {
    const token = await provider.userToken(agentId);
    const told = await call('/x', token);
    assert.equal(told.status, 503);
    assert.match(told.body ?? '', /"error":"not_configured".*client id is not there/);
    await register(provider.clientOf(agentId));
    await eventually(async () => assert.equal((await call('/x', token)).status, 200), 90_000);
  });

  test("the user's token reaches the agent, one for nobody and none do not", async () => {
    const token = await provider.userToken(agentId);
    const told = await call('/x', token);
    assert.equal((JSON.parse(told.body ?? '') as { authorization: string }).authorization, `Bearer ${token}`);
    const stray = await call('/x', await provider.userToken());
    assert.equal(stray.status, 401);
    assert.match(stray.body ?? '', /"error":"invalid_token".*get one for the audience.*team1\/agent/);
    assert.equal((await call('/x')).status, 401);
  });

  test("the tool sees a token for itself, by the agent, about the user, and not the user's", async () => {
    const token = await provider.userToken(agentId);
    const { authorization } = sent(await callTool(token));
    assert.notEqual(authorization, `Bearer ${token}`);
    const { aud, azp, sub, iss } = await seesTool(token);
    assert.deepEqual({ aud, azp, sub, iss }, { aud: 'tool', azp: agentId, sub: provider.userId, iss: issuer });
  });

  test('an agent and a tool of the public A2A and MCP SDKs work unchanged, and stream', async () => {
    await Promise.all([bed.untilInjected('planner'), bed.untilInjected('clock')]);
    const heard = await callAgent(plannerUrl, await provider.userToken(plannerId));
    const spoken = heard.flatMap(({ text }) => (text === '' ? [] : [text]));
    const [artifact = ''] = spoken.splice(3);
    assert.deepEqual(spoken, ['step 1', 'step 2', 'step 3'], JSON.stringify(heard));
    assert.equal(heard.at(-1)?.state, TaskState.TASK_STATE_COMPLETED);
    const { aud, azp, sub } = JSON.parse(artifact) as Readonly<Record<string, unknown>>;
    assert.deepEqual({ aud, azp, sub }, { aud: 'clock', azp: plannerId, sub: provider.userId });
    // The tool waits 300 ms before each step: what was held back would come in one moment.
    const [first, , third] = heard.filter(({ text }) => text.startsWith('step'));
    assert.ok((third?.atMs ?? 0) - (first?.atMs ?? 0) > 300, JSON.stringify(heard));
  });

  test('without a token for it that agent is closed, but for its card', async () => {
    assert.equal(await refusalOf(callAgent(plannerUrl, undefined)), 'missing_token');
    assert.equal(await refusalOf(callAgent(plannerUrl, await provider.userToken(agentId))), 'invalid_token');
    assert.equal((await bed.ask('agent', `http://clock.${namespace}.svc:8080/mcp`)).status, 401);
  });

  test("without a caller the agent's own token goes where a route says so, and nowhere else", async () => {
    const { azp, aud, sub } = claimsSent(await bed.ask('agent', `http://ledger.${namespace}.svc:8080/own`));
    assert.equal(azp, agentId);
    assert.ok([aud].flat().includes('tool'));
    assert.notEqual(sub, provider.userId);
    const told = await bed.ask('agent', `http://tool.${namespace}.svc:8080/own`);
    assert.equal(told.status, 401);
    assert.match(told.body ?? '', /"error":"missing_token"/);
  });

  test('another secret in Keycloak is taken from the Secret, by the same pod', async () => {
    const renewed = await provider.admin.renewSecret(realm, agentId);
    const old = await callTool(await provider.userToken(agentId));
    assert.equal(old.status, 503);
    assert.match(old.body ?? '', /"error":"not_configured".*own credentials/);
    await register(renewed);
    await eventually(async () => {
      assert.equal((await callTool(await provider.userToken(agentId))).status, 200);
    }, 90_000);
    const [same, ...more] = await bed.podsOf('agent');
    assert.deepEqual([same?.metadata.name, more.length], [pod, 0]);
    const { containerStatuses = [], initContainerStatuses = [] } = (same?.status ?? {}) as Statuses;
    const restarts = [...containerStatuses, ...initContainerStatuses].map(({ restartCount }) => restartCount);
    assert.deepEqual(new Set(restarts), new Set([0]));
  });

  test('after a rotation of the keys new tokens are good at once, old ones no more', async () => {
    const old = await provider.userToken(agentId);
    assert.equal((await call('/x', old)).status, 200);
    await provider.admin.rotateKeys(realm);
    const token = await provider.userToken(agentId);
    assert.equal((await call('/x', token)).status, 200);
    assert.equal((await call('/x', old)).status, 401);
    assert.equal((await seesTool(token))['aud'], 'tool');
  });

  test('without Keycloak held keys and tokens serve, an exchange is 503; with it again all is as before', async () => {
    const [known, fresh] = [await provider.userToken(agentId), await provider.userToken(agentId)];
    const asked = await provider.userToken(plannerId);
    assert.equal((await callTool(known)).status, 200);
    // So that its pod, too, has the keys of after the rotation.
    await callAgent(plannerUrl, await provider.userToken(plannerId));
    await provider.end();
    assert.equal((await call('/x', fresh)).status, 200);
    assert.equal((await callTool(known)).status, 200);
    const told = await bed.ask('agent', `http://tool.${namespace}.svc:8080/t`, fresh);
    assert.equal(told.status, 503);
    assert.match(told.body ?? '', /"error":"idp_unavailable"/);
    assert.match(told.retryAfter ?? '', /^[1-9]\d*$/);
    const last = (await callAgent(plannerUrl, asked)).at(-1);
    assert.equal(last?.state, TaskState.TASK_STATE_FAILED);
    assert.match(last?.text ?? '', /idp_unavailable/);
    await provider.start();
    await eventually(async () => assert.equal((await callTool(fresh)).status, 200));
    assert.equal((await seesTool(await provider.userToken(agentId)))['sub'], provider.userId);
  });
});

const issuer = `${providerUrl}/realms/${realm}`;

interface Statuses {
  readonly containerStatuses?: readonly { readonly restartCount: number }[];
  readonly initContainerStatuses?: readonly { readonly restartCount: number }[];
}

function sent({ body }: Told): { readonly authorization: string } {
  return JSON.parse(body ?? '') as { readonly authorization: string };
}

/** Claims of the token that the tool says it was sent. */
function claimsSent(told: Told): Readonly<Record<string, unknown>> {
  assert.equal(told.status, 200, told.body ?? '');
  const [, payload = ''] = sent(told).authorization.replace('Bearer ', '').split('.');
  return JSON.parse(Buffer.from(payload, 'base64url').toString()) as Readonly<Record<string, unknown>>;
}
