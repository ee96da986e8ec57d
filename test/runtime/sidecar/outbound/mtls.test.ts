/** Which of the agent's calls leave by mutual TLS, by their host and the mode, and that none of those leaves without. */

import assert from 'node:assert/strict';
import test from 'node:test';
import { createOutbound } from '../../../../runtime/sidecar/outbound/decide.ts';
import type { OutboundMtls } from '../../../../runtime/sidecar/outbound/mtls.ts';
import { providerRoutes, readRoutes } from '../../../../runtime/sidecar/outbound/routes.ts';
import { fakeClock } from '../../../support/fake-clock.ts';
import type { HeadWish } from '../inbound/fixtures.ts';
import { call, callersToken, issuer, now } from './fixtures.ts';

const noSignal = new AbortController().signal;
const read = readRoutes(
  JSON.stringify([
    { host: 'tool-x', audience: 'tool-x' },
    { host: 'tool-tls', audience: 'tool-tls', noToken: 'allow', mtls: 'required' },
    { host: 'old-tool', action: 'passthrough', mtls: 'none' },
    { host: 'api.example', action: 'passthrough', mtls: 'required' },
    { host: '**.evil', action: 'deny' },
  ]),
);
const routes = [...('value' in read ? read.value : []), ...providerRoutes(['http://keycloak.idp.svc:8080/'])];

function decision(mtls: OutboundMtls, wish: HeadWish) {
  const decide = createOutbound({
    issuer,
    routes,
    fallback: undefined,
    tokenFor: async ({ audience }) => ({ kind: 'token', token: `for-${audience}`, lifeSeconds: 60 }),
    placeOf: async () => ({ kind: 'elsewhere', address: '10.1.0.4' }),
    mtls,
    clock: fakeClock(now),
  });
  return decide(call(wish), noSignal);
}

async function way(mode: OutboundMtls['mode'], host: string, why?: string): Promise<string> {
  const decided = await decision({ mode, unavailable: () => why }, { authority: `${host}:8080` });
  if (decided.kind === 'refuse') return `${decided.status} ${decided.reason}: ${decided.description}`;
  return decided.isMtls === true ? 'mtls' : 'plain';
}

const noIdentity =
  '503 mtls-unavailable: this host is called by mutual TLS alone, and this pod cannot: no SPIFFE identity yet';

/** How a call without a token leaves in `permissive` and in `strict` mode. */
const ways: readonly (readonly [host: string, permissive: string, strict: string])[] = [
  ['other.team1.svc', 'plain', 'mtls'],
  ['other.team1.svc.cluster.local', 'plain', 'mtls'],
  ['other', 'plain', 'mtls'],
  ['other.team1', 'plain', 'plain'],
  ['example.com', 'plain', 'plain'],
  ['10.1.0.9', 'plain', 'plain'],
  ['tool-tls', 'mtls', 'mtls'],
  ['api.example', 'mtls', 'mtls'],
  ['old-tool', 'plain', 'plain'],
  ['tool-x', '401 no-token', '401 no-token'],
  ['a.evil', '403 denied', '403 denied'],
  ['keycloak.idp.svc', 'plain', 'plain'],
];
for (const [host, permissive, strict] of ways) {
  test(`${host}: ${permissive} in permissive mode, ${strict} in strict mode, and never plain for want of an identity`, async () => {
    for (const [mode, expected] of [
      ['permissive', permissive],
      ['strict', strict],
    ] as const) {
      assert.ok((await way(mode, host)).startsWith(expected));
      const without = await way(mode, host, 'no SPIFFE identity yet');
      assert.ok(without.startsWith(expected === 'mtls' ? noIdentity : expected), without);
    }
  });
}

test('an exchanged token leaves by mutual TLS as well, to the host that it was made for', async () => {
  const mtls = { mode: 'strict', unavailable: () => undefined } as const;
  assert.deepEqual(await decision(mtls, { headers: { authorization: `Bearer ${callersToken}` } }), {
    kind: 'pass',
    reason: 'exchange',
    set: { authorization: 'Bearer for-tool-x' },
    destination: { address: '10.1.0.4', port: 8080 },
    isMtls: true,
  });
});
