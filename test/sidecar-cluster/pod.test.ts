/** What is injected, on a real kubelet: the pod's traffic captured, its calls decided, its own probes and its agent's code as they were. */

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import type { Pod } from '../../runtime/api/kubernetes.ts';
import { kinds } from '../../runtime/api/kinds.ts';
import { install } from '../../runtime/api/names.ts';
import { buildImage } from '../../scripts/image.ts';
import { buildApp } from '../../stacks/app.ts';
import { readSettings } from '../../stacks/environments.ts';
import { manifestsOf } from '../../stacks/tree.ts';
import { loadImage } from '../lab/load-image.ts';
import { canRunNode } from '../lab/up.ts';
import { isReady, operatorImage, startNode } from '../node-cluster/node-bed.ts';
import { eventually } from '../support/engine-bed.ts';
import { applyAll } from '../support/operator-platform.ts';
import { namespaceDefaults, putConfigMap, runtimeFor, type Written } from '../support/workload-objects.ts';
import { agent, asking, keyServer, tool } from './programs.ts';

const skip = !canRunNode() && 'a node needs root on Linux';
const namespace = 'team1';
const issuer = `http://idp.${namespace}.svc:8080/realms/agents`;
const sidecarImage = 'lab.local/rossoctl-sidecar:test';
const root = path.resolve(import.meta.dirname, '../..');

describe('an injected pod', { skip, timeout: 600_000 }, () => {
  let node: Awaited<ReturnType<typeof startNode>>;
  let tokenFor: (audience: string) => Promise<string>;

  before(async () => {
    node = await startNode();
    const keys = await generateKeyPair('ES256');
    const jwk = { ...(await exportJWK(keys.publicKey)), kid: 'one', alg: 'ES256', use: 'sig' };
    tokenFor = (audience) =>
      new SignJWT({ azp: 'caller' })
        .setProtectedHeader({ alg: 'ES256', kid: 'one', typ: 'at+jwt' })
        .setIssuer(issuer)
        .setSubject('alice')
        .setAudience(audience)
        .setIssuedAt()
        .setExpirationTime('1h')
        .sign(keys.privateKey);
    const made = await buildImage({ image: 'sidecar', tag: sidecarImage, out: path.join(node.folder, 'sidecar.tar') });
    await loadImage(node.name, made.file);
    await applyAll(node.client, platform());
    await untilReady(install.namespace, 'rossoctl-operator', 2);
    await putConfigMap(
      node.client,
      namespaceDefaults(namespace, `identity:\n  url: http://idp.${namespace}.svc:8080\n  realm: agents\n`),
    );
    const own = deployment('agent', agent, { httpGet: { path: '/ready', port: 8080 }, periodSeconds: 1 });
    await applyAll(node.client, [
      deployment('idp', keyServer({ keys: [jwk] })),
      deployment('tool', tool),
      own,
      ...['idp', 'tool', 'agent'].map(service),
      runtimeFor(own, { type: 'agent', identity: { allowedAudiences: ['agent'] } }),
    ]);
    await eventually(async () => {
      const [pod, ...more] = await podsOf('agent');
      assert.equal(more.length, 0, 'the rollout is over');
      assert.ok(pod !== undefined && isReady(pod) && (pod.spec.initContainers?.length ?? 0) > 0);
    }, 120_000);
  });
  after(() => node.stop());

  /** The platform with the real sidecar in place of the stand-ins. */
  function platform(): readonly Written[] {
    const objects = manifestsOf(buildApp(readSettings('local', { image: operatorImage })));
    const text = JSON.stringify(objects).replaceAll(/lab\.local\/(envoy-proxy|proxy-init|sidecar):dev/g, sidecarImage);
    return JSON.parse(text) as readonly Written[];
  }

  async function podsOf(app: string): Promise<readonly Pod[]> {
    return (await node.client.list<Pod>(kinds.pod, { namespace, labels: `app=${app}` })).items;
  }

  async function untilReady(where: string, name: string, replicas: number): Promise<void> {
    await eventually(async () => {
      const { status } = await node.client.get(kinds.deployment, { namespace: where, name });
      assert.equal((status as { readonly readyReplicas?: number } | undefined)?.readyReplicas, replicas);
    }, 120_000);
  }

  interface Told {
    readonly status?: number;
    readonly challenge?: string | null;
    readonly body?: string;
    readonly error?: string;
  }

  async function kubectl(...parameters: readonly string[]): Promise<string> {
    const { stdout } = await promisify(execFile)(
      process.execPath,
      [path.join(root, 'test/lab/main.ts'), 'kubectl', '--name', node.name, '-n', namespace, ...parameters],
      { timeout: 60_000 },
    );
    return stdout;
  }

  /** What a program in a pod of `from` is told. */
  async function ask(from: string, url: string, token = ''): Promise<Told> {
    const program = ['/usr/bin/node', '-e', asking, url, token];
    const out = await kubectl('exec', `deploy/${from}`, '-c', 'app', '--', ...program);
    return JSON.parse(out.trim().split('\n').at(-1) ?? '') as Told;
  }

  async function podAddress(): Promise<string> {
    const [pod] = await podsOf('agent');
    return (pod?.status as { readonly podIP?: string } | undefined)?.podIP ?? '';
  }

  test('without a token nobody reaches the agent, and is told what to send', async () => {
    const told = await ask('tool', 'http://agent:8080/x');
    assert.equal(told.status, 401);
    assert.equal(told.challenge, 'Bearer realm="rossoctl"');
    assert.match(told.body ?? '', /"error":"missing_token".*Authorization: Bearer/);
  });

  test('a token for somebody else is refused with what it should have been', async () => {
    const told = await ask('tool', 'http://agent:8080/x', await tokenFor('another'));
    assert.equal(told.status, 401);
    assert.match(told.challenge ?? '', /error="invalid_token"/);
    assert.match(told.body ?? '', /agent/);
  });

  test('with a token for it the agent is reached, and sees the token', async () => {
    const token = await tokenFor('agent');
    const told = await ask('tool', 'http://agent:8080/x?y=1', token);
    assert.deepEqual(
      [told.status, JSON.parse(told.body ?? '')],
      [200, { url: '/x?y=1', authorization: `Bearer ${token}` }],
    );
  });

  test('the card is open, the address of the pod is not', async () => {
    assert.equal((await ask('tool', 'http://agent:8080/.well-known/agent-card.json')).status, 200);
    assert.equal((await ask('tool', `http://${await podAddress()}:8080/x`)).status, 401);
  });

  test("the proxy's own ports cannot be dialled, its health can", async () => {
    const address = await podAddress();
    for (const port of [15123, 15124]) {
      const { error, status } = await ask('tool', `http://${address}:${port}/`);
      // Refused by the kernel, or closed by Envoy: no answer either way.
      assert.ok(error === 'ECONNREFUSED' || error === 'UND_ERR_SOCKET', `${port}: ${status} ${error}`);
    }
    assert.equal((await ask('tool', `http://${address}:9901/`)).status, 401);
    assert.equal((await ask('tool', `http://${address}:15125/readyz`)).status, 200);
  });

  test('events arrive while they are made', async () => {
    const told = await ask('tool', 'http://agent:8080/events', await tokenFor('agent'));
    assert.equal(told.body, 'data: 1\n\ndata: 2\n\ndata: 3\n\n');
  });

  test("the agent's own calls pass, by TLS too; its caller's token does not", async () => {
    const plain = await ask('agent', 'http://tool:8080/plain');
    assert.deepEqual([plain.status, JSON.parse(plain.body ?? '')], [200, { url: '/plain', authorization: '' }]);
    assert.equal((await ask('agent', 'https://kubernetes.default.svc/version')).status, 200);
    const told = await ask('tool', 'http://agent:8080/call?u=http://tool:8080/t', await tokenFor('agent'));
    const seen = JSON.parse(told.body ?? '') as { readonly status: number; readonly body: string };
    assert.equal(seen.status, 503);
    assert.match(seen.body, /"error":"idp_unavailable".*client-id\.txt/);
  });

  test("nothing of a token is in the sidecar's log", async () => {
    const token = await tokenFor('agent');
    await ask('tool', `http://agent:8080/x?access_token=${token}`, token);
    await eventually(async () =>
      assert.match(await kubectl('logs', 'deploy/agent', '-c', 'envoy-proxy'), /"path":"\/x"/),
    );
    const log = await kubectl('logs', 'deploy/agent', '-c', 'envoy-proxy');
    assert.ok(!log.includes(token.slice(0, 40)), 'the token is in the log');
  });
});

function deployment(name: string, program: string, readinessProbe?: object): Written {
  const app = {
    name: 'app',
    image: sidecarImage,
    imagePullPolicy: 'IfNotPresent',
    command: ['/usr/bin/node', '-e', program],
    ports: [{ name: 'http', containerPort: 8080 }],
    securityContext: {
      runAsNonRoot: true,
      runAsUser: 1000,
      allowPrivilegeEscalation: false,
      capabilities: { drop: ['ALL'] },
      seccompProfile: { type: 'RuntimeDefault' },
    },
    ...(readinessProbe === undefined ? {} : { readinessProbe }),
  };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { namespace, name },
    spec: {
      replicas: 1,
      selector: { matchLabels: { app: name } },
      template: {
        metadata: { labels: { app: name } },
        spec: { terminationGracePeriodSeconds: 1, containers: [app] },
      },
    },
  };
}

function service(name: string): Written {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { namespace, name },
    spec: { selector: { app: name }, ports: [{ name: 'http', port: 8080, targetPort: 8080 }] },
  };
}
