/** No secret anywhere: a real Keycloak takes a real SPIRE's JWT-SVID for the agent's own credentials. */

import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import test from 'node:test';
import { createOwnAuth, noCredentials } from '../../runtime/sidecar/outbound/credentials.ts';
import { spireBinaries } from '../lab/binaries.ts';
import { ensureBinaries, pathOf } from '../lab/build.ts';
import { reportToStderr } from '../lab/progress.ts';
import { runCommand } from '../lab/run-command.ts';
import { startSpire } from '../lab/spire/spire.ts';
import { bearer, keycloakForFile, makeRealm, outbound, sentClaims } from './bed.ts';

const keycloak = await keycloakForFile();
const { admin } = keycloak;
const spiffeId = 'spiffe://cluster.local/ns/team1/sa/agent-a';

test('the agent exchanges and asks for itself with its SVID, and is told when the SVID is not for Keycloak', async (t) => {
  const spire = await startSpire({ name: 'keycloak-spiffe' });
  t.after(() => spire.stop());
  await spire.createEntry(spiffeId);
  await spire.fetchSvid(spiffeId);
  const agentProgram = pathOf(await ensureBinaries(spireBinaries, reportToStderr), 'spire-agent');

  const bundle = await spire.bundleSpiffeJson();
  const server = createServer((_, reply) => reply.setHeader('content-type', 'application/json').end(bundle));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;

  const realm = await makeRealm(keycloak);
  const { trustDomain } = spire;
  const config = { trustDomain: `spiffe://${trustDomain}`, bundleEndpoint: `http://127.0.0.1:${port}/` };
  const provider = { alias: 'spire', providerId: 'spiffe', enabled: true, config };
  await admin.request('POST', `/realms/${realm.name}/identity-provider/instances`, provider);
  await admin.createAudienceScope(realm.name, 'spiffe-aud', spiffeId);
  await admin.createClient(realm.name, {
    id: spiffeId,
    mayExchange: true,
    optionalScopes: ['tool-aud'],
    fields: { clientAuthenticatorType: 'federated-jwt' },
    attributes: { 'jwt.credential.issuer': 'spire', 'jwt.credential.sub': spiffeId },
  });
  const caller = await admin.createClient(realm.name, { id: 'caller-2', defaultScopes: ['spiffe-aud'] });

  const assertion = async (audience: string) => {
    const asked = ['api', 'fetch', 'jwt', '-audience', audience, '-socketPath', spire.socketPath, '-output', 'json'];
    // A new entry takes the agent some seconds to hear of, also for this kind of SVID.
    for (let i = 0; ; i += 1) {
      try {
        const [first] = JSON.parse(await runCommand(agentProgram, asked)) as { readonly svids?: { svid: string }[] }[];
        const token = first?.svids?.[0]?.svid;
        return token === undefined ? { unavailable: 'the agent gives none' } : { token };
      } catch (error) {
        if (i > 20) throw error;
        await sleep(500);
      }
    }
  };
  const own = { method: 'jwt-spiffe', credentials: () => noCredentials, assertion } as const;
  const route = { scopes: ['tool-aud'], noToken: 'client-credentials' };
  const auth = createOwnAuth({ ...own, issuer: realm.issuer });

  const alone = sentClaims(await outbound(t, realm, { route, auth }).decision({}));
  assert.equal(alone['azp'], spiffeId);
  const callers = await admin.token(realm.name, caller);
  const exchanged = sentClaims(await outbound(t, realm, { route, auth }).decision(bearer(callers)));
  assert.equal(exchanged['azp'], spiffeId);
  assert.ok([exchanged['aud']].flat().includes('tool-x'));

  const elsewhere = createOwnAuth({ ...own, issuer: 'https://another.example' });
  const refused = await outbound(t, realm, { route, auth: elsewhere }).decision({});
  assert.ok(refused.kind === 'refuse' && refused.status === 503);
  assert.match(refused.description, /own credentials.*SPIFFE ID/);
});
