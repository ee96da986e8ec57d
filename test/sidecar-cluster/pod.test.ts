/** What is injected, on a real kubelet: the pod's traffic captured, its calls decided, its own probes and its agent's code as they were. */

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { canRunNode } from '../lab/up.ts';
import { eventually } from '../support/engine-bed.ts';
import { applyAll } from '../support/operator-platform.ts';
import { namespaceDefaults, putConfigMap, runtimeFor } from '../support/workload-objects.ts';
import { type SidecarBed, startSidecarBed, type Told } from './bed.ts';
import { deployment, service, sidecarImage } from './objects.ts';
import { agent, asking, keyServer, tool } from './programs.ts';
import { createIssuer } from '../support/issuer.ts';

const skip = !canRunNode() && 'a node needs root on Linux';
const namespace = 'team1';
const issuer = `http://idp.${namespace}.svc:8080/realms/agents`;

describe('an injected pod', { skip, timeout: 600_000 }, () => {
  let bed: SidecarBed;
  let tokenFor: (audience: string) => Promise<string>;

  before(async () => {
    bed = await startSidecarBed(namespace);
    const issued = await createIssuer(issuer);
    tokenFor = issued.tokenFor;
    await bed.untilOperatorRuns();
    await putConfigMap(
      bed.client,
      namespaceDefaults(namespace, `identity:\n  url: http://idp.${namespace}.svc:8080\n  realm: agents\n`),
    );
    const readinessProbe = { httpGet: { path: '/ready', port: 8080 }, periodSeconds: 1 };
    const own = deployment({ namespace, name: 'agent', program: ['-e', agent], readinessProbe });
    await applyAll(bed.client, [
      deployment({ namespace, name: 'idp', program: ['-e', keyServer(issued.jwks)] }),
      deployment({ namespace, name: 'tool', program: ['-e', tool] }),
      own,
      ...['idp', 'tool', 'agent'].map((app) => service(namespace, app)),
      runtimeFor(own, { type: 'agent', identity: { allowedAudiences: ['agent'] } }),
    ]);
    await bed.untilInjected('agent');
  });
  after(() => bed?.stop());

  async function podAddress(): Promise<string> {
    const [pod] = await bed.podsOf('agent');
    return (pod?.status as { readonly podIP?: string } | undefined)?.podIP ?? '';
  }

  test('without a token nobody reaches the agent, and is told what to send', async () => {
    const told = await bed.ask('tool', 'http://agent:8080/x');
    assert.equal(told.status, 401);
    assert.equal(told.challenge, 'Bearer realm="rossoctl"');
    assert.match(told.body ?? '', /"error":"missing_token".*Authorization: Bearer/);
  });

  test('a token for somebody else is refused with what it should have been', async () => {
    const told = await bed.ask('tool', 'http://agent:8080/x', await tokenFor('another'));
    assert.equal(told.status, 401);
    assert.match(told.challenge ?? '', /error="invalid_token"/);
    assert.match(told.body ?? '', /agent/);
  });

  test('with a token for it the agent is reached, and sees the token', async () => {
    const token = await tokenFor('agent');
    const told = await bed.ask('tool', 'http://agent:8080/x?y=1', token);
    assert.deepEqual(
      [told.status, JSON.parse(told.body ?? '')],
      [200, { url: '/x?y=1', authorization: `Bearer ${token}` }],
    );
  });

  test('the card is open, the address of the pod is not', async () => {
    assert.equal((await bed.ask('tool', 'http://agent:8080/.well-known/agent-card.json')).status, 200);
    assert.equal((await bed.ask('tool', `http://${await podAddress()}:8080/x`)).status, 401);
  });

  test("the proxy's own ports cannot be dialled, its health can", async () => {
    const address = await podAddress();
    for (const port of [15123, 15124]) {
      const { error, status } = await bed.ask('tool', `http://${address}:${port}/`);
      // Refused by the kernel, or closed or reset by Envoy, as it comes: no answer in any case.
      assert.match(error ?? '', /^(?:ECONNREFUSED|ECONNRESET|UND_ERR_SOCKET)$/, `${port}: ${status}`);
    }
    assert.equal((await bed.ask('tool', `http://${address}:9901/`)).status, 401);
    assert.equal((await bed.ask('tool', `http://${address}:15125/readyz`)).status, 200);
  });

  test('events arrive while they are made', async () => {
    const told = await bed.ask('tool', 'http://agent:8080/events', await tokenFor('agent'));
    assert.equal(told.body, 'data: 1\n\ndata: 2\n\ndata: 3\n\n');
  });

  test("the agent's own calls pass, by TLS too; its caller's token does not", async () => {
    const plain = await bed.ask('agent', 'http://tool:8080/plain');
    assert.deepEqual([plain.status, JSON.parse(plain.body ?? '')], [200, { url: '/plain', authorization: '' }]);
    assert.equal((await bed.ask('agent', 'https://kubernetes.default.svc/version')).status, 200);
    const told = await bed.ask('tool', 'http://agent:8080/call?u=http://tool:8080/t', await tokenFor('agent'));
    const seen = JSON.parse(told.body ?? '') as { readonly status: number; readonly body: string };
    assert.equal(seen.status, 503);
    assert.match(seen.body, /"error":"idp_unavailable".*client-id\.txt/);
  });

  test("nothing of a token is in the sidecar's log", async () => {
    const token = await tokenFor('agent');
    await bed.ask('tool', `http://agent:8080/x?access_token=${token}`, token);
    await eventually(async () =>
      assert.match(await bed.kubectl('logs', 'deploy/agent', '-c', 'envoy-proxy'), /"path":"\/x"/),
    );
    const log = await bed.kubectl('logs', 'deploy/agent', '-c', 'envoy-proxy');
    assert.ok(!log.includes(token.slice(0, 40)), 'the token is in the log');
  });

  test('a debug container that is the proxy’s user calls out past the proxy; the application does not', async () => {
    const token = await tokenFor('agent');
    const url = 'http://tool:8080/t';
    assert.equal((await bed.ask('agent', url, token)).status, 503);
    const [pod] = await bed.podsOf('agent');
    const profile = path.join(bed.folder, 'profile.json');
    writeFileSync(profile, JSON.stringify({ securityContext: { runAsUser: 1337 } }));
    const container = ['-c', 'debugger', `--image=${sidecarImage}`, '--image-pull-policy=IfNotPresent'];
    const program = ['--', '/usr/bin/node', '-e', asking, url, token];
    const name = pod?.metadata.name ?? '';
    await bed.kubectl('debug', name, ...container, '--profile=general', `--custom=${profile}`, ...program);
    await eventually(async () => {
      const told = JSON.parse(await bed.kubectl('logs', name, '-c', 'debugger')) as Told;
      assert.deepEqual(
        [told.status, JSON.parse(told.body ?? '')],
        [200, { url: '/t', authorization: `Bearer ${token}` }],
      );
    });
  });
});
