/** The calls that a person makes: without a token, with a wrong one, with a good one; what the tool behind the agent is sent. */

import type { LabSpire } from '../../test/lab/spire/lab-spire.ts';
import { credentialsSecret, type Provider } from '../../test/support/identity-provider.ts';
import { type Cluster, DemoFailure, until } from './cluster.ts';
import type { Narration } from './narration.ts';
import { agentId, namespace, nodePort, workloads } from './team3.ts';

/** What stands beside the lab and serves its pods. */
export interface Beside {
  readonly provider: Provider;
  readonly spire: LabSpire;
  /** Where this machine reaches Services with a node port. */
  readonly nodeAddress: string;
}

export interface CallTelling {
  readonly cluster: Cluster;
  readonly tell: Narration;
  readonly beside: Beside;
  /** Has Node: the sidecar's own image. */
  readonly nodeImage: string;
}

interface Answer {
  readonly status: number;
  readonly challenge: string | null;
  readonly body: string;
}

/** One call from outside of the cluster. What cannot be reached is undefined. */
async function call({ beside }: CallTelling, path: string, token?: string): Promise<Answer | undefined> {
  const credentials = token === undefined ? {} : { authorization: `Bearer ${token}` };
  // A connection that is kept would lead to the pod of before the rollout as long as that one ends.
  const headers = { ...credentials, connection: 'close' };
  const url = `http://${beside.nodeAddress}:${nodePort}${path}`;
  try {
    const answer = await fetch(url, { headers, signal: AbortSignal.timeout(10_000) });
    return { status: answer.status, challenge: answer.headers.get('www-authenticate'), body: await answer.text() };
  } catch {
    return undefined;
  }
}

interface Shown {
  readonly path: string;
  readonly token?: string;
  /** How the token is named in the command that is shown. */
  readonly named?: string;
  readonly status: number;
  /** What the body must say. */
  readonly says: RegExp;
}

/** Makes a call, shows it as the command a person would type, and throws when it is not answered as told. */
export async function show(telling: CallTelling, { path, token, named, status, says }: Shown): Promise<Answer> {
  const { tell, beside } = telling;
  const header = named === undefined ? '' : ` -H "Authorization: Bearer $${named}"`;
  tell.say(`$ curl -i${header} http://${beside.nodeAddress}:${nodePort}${path}`);
  const answer = await call(telling, path, token);
  if (answer === undefined) throw new DemoFailure(`the agent could not be reached at ${path}`);
  const lines = [
    `HTTP ${answer.status}`,
    ...(answer.challenge === null ? [] : [`www-authenticate: ${answer.challenge}`]),
  ];
  tell.show([...lines, answer.body].join('\n'));
  if (answer.status !== status || !says.test(answer.body)) {
    throw new DemoFailure(`${path} was to be answered ${status} with ${says}, and was not`);
  }
  return answer;
}

/** Tells it on a cluster that has the platform, with the identity provider and SPIRE beside it. Throws when anything is not as told. */
export async function tellCalls(telling: CallTelling): Promise<void> {
  const { cluster, tell, beside } = telling;
  const { provider } = beside;
  tell.step('A person calls an agent: a new team deploys an assistant and a tool that it asks; Keycloak knows both');
  // One of an earlier demo may still be ending.
  await cluster.kubectl(['wait', '--for=delete', `namespace/${namespace}`, '--timeout=120s']);
  await cluster.apply([
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } },
    credentialsSecret(namespace, 'assistant', provider.clientOf(agentId)),
  ]);
  const token = await provider.userToken(agentId);
  const began = performance.now();
  tell.show(await cluster.apply(workloads(telling.nodeImage)));
  // Before the platform has it, the agent takes everybody: so a call without a token must be refused first.
  await until('the agent to refuse a call without a token, and to answer one with it', async () => {
    if ((await call(telling, '/'))?.status !== 401) return undefined;
    return (await call(telling, '/', token))?.status === 200 ? true : undefined;
  });
  const seconds = ((performance.now() - began) / 1000).toFixed(1);
  tell.say(`${seconds} s from kubectl apply to the first call that was asked for its token and answered`);
  await cluster.kubectl(['rollout', 'status', 'deployment/tickets', '-n', namespace, '--timeout=60s']);

  tell.step('No token, a token for somebody else, a token for it');
  await show(telling, { path: '/', status: 401, says: /missing_token.*Authorization: Bearer/ });
  const stray = await provider.userToken('team1/weather');
  await show(telling, { path: '/', token: stray, named: 'TOKEN_FOR_WEATHER', status: 401, says: /team3\/assistant/ });
  await show(telling, { path: '/', token, named: 'TOKEN', status: 200, says: /at your service/ });

  tell.step(
    'The agent passes the token on to its tool, and the tool is sent another: for itself, by the agent, about alice',
  );
  const seen = /"for":"tickets","by":"team3\/assistant","about":"alice"/;
  await show(telling, { path: '/ask', token, named: 'TOKEN', status: 200, says: seen });
  tell.say('The tool’s own log:');
  const asked = ['logs', '-n', namespace, '-l', 'app.kubernetes.io/name=tickets', '-c', 'agent', '--tail=1'];
  // The pod of before the rollout may still be there, and printed nothing.
  const printed = await until('the tool to print whose token it was sent', async () => {
    const lines = await cluster.kubectl(asked);
    return seen.test(lines) ? lines : undefined;
  });
  tell.show(printed);
}
