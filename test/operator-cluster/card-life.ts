/** What an operator meets with agent cards: an agent is discovered, signs its card, is verified, and is no agent any more. */

import assert from 'node:assert/strict';
import http from 'node:http';
import { kinds } from '../../runtime/api/kinds.ts';
import { labels, spiffeId } from '../../runtime/api/names.ts';
import type { Client } from '../../runtime/engine/client.ts';
import { isNotFound } from '../../runtime/engine/errors.ts';
import { eventually } from '../support/engine-bed.ts';
import type { PlatformProps } from '../support/operator-platform.ts';
import { ownAddress } from '../support/own-address.ts';
import { createAuthority, signedCard } from '../support/svid.ts';
import { runtimeFor, workload, workloadKinds } from '../support/workload-objects.ts';

const bundle = { namespace: 'default', name: 'agents-bundle' };

/** An install that verifies cards and enforces the verdict. */
export const verifying: PlatformProps = {
  verification: { requireSignature: true, trustBundle: bundle },
  networkPolicies: { enforce: true },
};

/** The same, as flags of an operator process. */
export const verifyingFlags: Readonly<Record<string, string>> = {
  'require-a2a-signature': 'true',
  'enforce-network-policies': 'true',
  'spire-trust-bundle-configmap': bundle.name,
  'spire-trust-bundle-configmap-namespace': bundle.namespace,
};

async function serve(address: string, body: () => string) {
  const server = http.createServer((_, response) => response.end(body()));
  await new Promise<void>((listening) => server.listen(0, address, listening));
  const place = server.address();
  if (place === null || typeof place === 'string') throw new Error('no port');
  return { port: place.port, close: () => new Promise((closed) => server.close(closed)) };
}

/** The kubelet's part: the pod of the enrolled template runs, is ready, and has an address. Its name. */
async function run(client: Client, namespace: string, address: string): Promise<string> {
  let name = '';
  await eventually(async () => {
    const { items } = await client.list(kinds.pod, { namespace });
    name = items.find(({ metadata }) => metadata.labels?.[labels.type] === 'agent')?.metadata.name ?? '';
    assert.notEqual(name, '');
  });
  const status = {
    phase: 'Running',
    podIP: address,
    podIPs: [{ ip: address }],
    conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z' }],
  };
  const body = { apiVersion: 'v1', kind: 'Pod', metadata: { namespace, name }, status };
  await client.apply({ kind: kinds.pod, body }, { fieldManager: 'kubelet', subresource: 'status' });
  return name;
}

/** From discovery to the end, in a namespace of its own. */
export async function cardLife(client: Client, namespace: string): Promise<void> {
  const address = ownAddress();
  const authority = await createAuthority('rights');
  const trust = { apiVersion: 'v1', kind: 'ConfigMap', metadata: bundle, data: { 'bundle.crt': authority.pem } };
  await client.create(kinds.configMap, trust);
  const card = { name: 'weather', description: 'd', version: '1', url: 'http://weather/', capabilities: { x: 1 } };
  const svid = await authority.issue(spiffeId('cluster.local', namespace, 'agents'));
  const agent = await serve(address, () => signedCard(card, svid));
  try {
    const containers = [{ name: 'agent', image: 'example.test/agent:1', ports: [{ containerPort: agent.port }] }];
    const pod = { serviceAccountName: 'agents', containers };
    const deployment = workload('Deployment', namespace, 'weather', { replicas: 1, pod });
    const spoken = { ...deployment.metadata.labels, [`${labels.protocolPrefix}a2a`]: '' };
    await client.create(workloadKinds.Deployment, {
      ...deployment,
      metadata: { ...deployment.metadata, labels: spoken },
    });
    const runtime = runtimeFor(deployment);
    await client.create(kinds.agentRuntime, runtime);
    const name = await run(client, namespace, address);
    await eventually(async () => {
      const { metadata } = await client.get(kinds.pod, { namespace, name });
      assert.equal(metadata.labels?.[labels.signatureVerified], 'true');
    });
    await eventually(() => client.get(kinds.networkPolicy, { namespace, name: 'weather-signature-policy' }));
    await client.remove({ kind: kinds.agentRuntime, namespace, name: 'weather' });
    await eventually(async () => {
      const gone = await client.get(kinds.agentCard, { namespace, name: 'weather-deployment-card' }).catch(isNotFound);
      assert.equal(gone, true, 'the generated card goes with the enrolment');
    });
    const { metadata } = await client.get(kinds.deployment, { namespace, name: 'weather' });
    assert.equal(metadata.labels?.[labels.signatureVerified], undefined);
  } finally {
    await agent.close();
  }
}
