/** Strict mutual TLS between injected pods on a real kubelet, beside a real SPIRE: agents call each other so, and who has no sidecar is called as routes say. */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { HealthReport } from '../../runtime/engine/health.ts';
import { canRunNode } from '../lab/up.ts';
import { eventually } from '../support/engine-bed.ts';
import { applyAll } from '../support/operator-platform.ts';
import { namespaceDefaults, putConfigMap, runtimeFor, type Written } from '../support/workload-objects.ts';
import { type SidecarBed, startSidecarBed } from './bed.ts';
import { deployment, service } from './objects.ts';
import { agent, keyServer, tool } from './programs.ts';
import { createIssuer } from '../support/issuer.ts';

const skip = !canRunNode() && 'a node needs root on Linux';
const namespace = 'team1';
const idp = `http://idp.${namespace}.svc:8080`;
const issuer = `${idp}/realms/agents`;
/** By these groups SPIRE knows the pods. */
const groups = { caller: 20_011, callee: 20_012 };

const defaults = `
mtls: { mode: strict }
identity: { url: '${idp}', realm: agents }
tokenExchange:
  routes:
    - { host: callee.${namespace}.svc, action: passthrough }
    - { host: tool.${namespace}.svc, action: passthrough, mtls: none }
`;

function known(name: keyof typeof groups): Written {
  const written = deployment({ namespace, name, program: ['-e', agent] });
  const spec = written['spec'] as { readonly template: { readonly spec: object } };
  const podSpec = { ...spec.template.spec, securityContext: { supplementalGroups: [groups[name]] } };
  return { ...written, spec: { ...spec, template: { ...spec.template, spec: podSpec } } };
}

describe('two agents with strict mutual TLS', { skip, timeout: 600_000 }, () => {
  let bed: SidecarBed;
  let token: string;

  before(async () => {
    bed = await startSidecarBed(namespace, { spire: {} });
    const { jwks, tokenFor } = await createIssuer(issuer);
    token = await tokenFor('callee');
    await bed.untilOperatorRuns();
    await putConfigMap(bed.client, namespaceDefaults(namespace, defaults));
    for (const [name, group] of Object.entries(groups)) {
      await bed.spire.createEntry(`spiffe://${bed.spire.trustDomain}/ns/${namespace}/sa/${name}`, [
        `unix:supplementary_gid:${group}`,
      ]);
    }
    const [caller, callee] = [known('caller'), known('callee')];
    await applyAll(bed.client, [
      deployment({ namespace, name: 'idp', program: ['-e', keyServer(jwks)] }),
      deployment({ namespace, name: 'tool', program: ['-e', tool] }),
      caller,
      callee,
      ...['idp', 'tool', 'callee'].map((app) => service(namespace, app)),
      runtimeFor(caller, { type: 'agent' }),
      runtimeFor(callee, { type: 'agent', identity: { allowedAudiences: ['callee'] } }),
    ]);
    await Promise.all([bed.untilInjected('caller'), bed.untilInjected('callee')]);
  });
  after(() => bed?.stop());

  const logOf = (app: string) => bed.kubectl('logs', `deploy/${app}`, '-c', 'envoy-proxy');

  test('a plain call of one to the other goes by mutual TLS, and each is told who the other is', async () => {
    const unnamed = await bed.ask('caller', 'http://callee:8080/x');
    assert.equal(unnamed.status, 401, `it got past "mutual TLS only": ${JSON.stringify(unnamed)}`);
    const told = await bed.ask('caller', `http://callee.${namespace}.svc:8080/x`, token);
    assert.deepEqual(
      [told.status, JSON.parse(told.body ?? '')],
      [200, { url: '/x', authorization: `Bearer ${token}` }],
    );
    await eventually(async () => assert.match(await logOf('callee'), /"peer":"spiffe:\/\/[^"]+\/sa\/caller"/));
    await eventually(async () => assert.match(await logOf('caller'), /"upstreamPeer":"spiffe:\/\/[^"]+\/sa\/callee"/));
  });

  test('a pod without a sidecar is not let in, with a good token either, and reads open paths', async () => {
    const told = await bed.ask('tool', 'http://callee:8080/x', token);
    assert.equal(told.status, 403);
    assert.match(told.body ?? '', /"error":"mtls_required"/);
    assert.equal((await bed.ask('tool', 'http://callee:8080/.well-known/agent-card.json')).status, 200);
  });

  test('a Service without a sidecar is a 503 that says so, and is called by the name whose route says none', async () => {
    const told = await bed.ask('caller', 'http://tool:8080/x');
    assert.equal(told.status, 503);
    assert.match(told.body ?? '', /"error":"mtls_failed".*speaks no TLS/);
    assert.equal((await bed.ask('caller', `http://tool.${namespace}.svc:8080/x`)).status, 200);
  });

  /** Serial numbers of the certificates by which the caller's Envoy calls and is called. */
  async function serials(): Promise<readonly string[]> {
    const { body = '' } = await bed.ask('caller', 'http://127.0.0.1:9901/certs');
    const { certificates } = JSON.parse(body) as {
      readonly certificates: readonly { readonly cert_chain: readonly { readonly serial_number: string }[] }[];
    };
    return certificates.flatMap(({ cert_chain: chain }) => chain.map((it) => it.serial_number));
  }

  test('while the SPIRE agent is away calls go on and health says so; back again it gives the next SVID, and calls go on by it', async () => {
    const called = async () => (await bed.ask('caller', `http://callee.${namespace}.svc:8080/x`, token)).status;
    const [pod] = await bed.podsOf('caller');
    const { podIP } = (pod?.status ?? {}) as { readonly podIP?: string };
    const unhealthy = async (): Promise<string | undefined> => {
      const { status, body = '' } = await bed.ask('tool', `http://${podIP}:15125/readyz?verbose`);
      assert.equal(status, 200);
      const { degraded } = JSON.parse(body) as HealthReport;
      return degraded.find(({ name }) => name === 'spiffe-identity')?.reason;
    };
    const before = await serials();
    assert.ok(before.length > 0);

    await bed.spire.endAgent();
    const why = /\/sa\/caller is not kept up and ends at .*: the SPIRE agent does not answer at /;
    await eventually(async () => assert.match((await unhealthy()) ?? '', why));
    assert.equal(await called(), 200);
    assert.deepEqual(await serials(), before);

    await bed.spire.startAgent();
    await eventually(async () => {
      const now = await serials();
      assert.ok(
        now.some((each) => !before.includes(each)),
        'there is a new SVID',
      );
      assert.equal(await unhealthy(), undefined);
    }, 60_000);
    assert.equal(await called(), 200);
  });
});
