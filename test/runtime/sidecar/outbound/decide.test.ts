/** The outbound rules as an agent meets them. */

import assert from 'node:assert/strict';
import test from 'node:test';
import { createAddresses } from '../../../../runtime/sidecar/outbound/addresses.ts';
import { createOutbound, type OutboundOptions } from '../../../../runtime/sidecar/outbound/decide.ts';
import { type Route, readRoutes } from '../../../../runtime/sidecar/outbound/routes.ts';
import type { TokenWish } from '../../../../runtime/sidecar/outbound/token-request.ts';
import type { TokenOutcome } from '../../../../runtime/sidecar/outbound/token-response.ts';
import { fakeClock } from '../../../support/fake-clock.ts';
import type { HeadWish } from '../inbound/fixtures.ts';
import { call, callersToken, issuer, now, nowSeconds, tokenWith } from './fixtures.ts';

const noSignal = new AbortController().signal;

const read = readRoutes(
  JSON.stringify([
    { host: 'tool-x', audience: 'tool-x' },
    { host: 'tool-open', audience: 'tool-open', noToken: 'allow' },
    { host: 'tool-own', audience: 'tool-own', noToken: 'client-credentials' },
    { host: 'old-tool', action: 'passthrough' },
    { host: '**.evil', action: 'deny' },
    { host: 'nowhere', audience: 'nowhere' },
  ]),
);
const routes: readonly Route[] = 'value' in read ? read.value : [];
const book: Readonly<Record<string, readonly string[]>> = {
  'tool-x': ['10.1.0.4', '10.1.0.5'],
  'tool-open': ['10.1.0.6'],
  'tool-own': ['10.1.0.7'],
  'old-tool': ['10.1.0.8'],
  other: ['10.1.0.9'],
  'other.team1.svc': ['10.1.0.9'],
};

function bed(options: Partial<OutboundOptions> = {}, outcome?: TokenOutcome) {
  const wishes: TokenWish[] = [];
  const clock = fakeClock(now);
  const looked: string[] = [];
  const decide = createOutbound({
    issuer,
    routes,
    fallback: { audience: 'downstream', scopes: [], tokenUrl: '' },
    tokenFor: (wish) => {
      wishes.push(wish);
      return outcome ?? { kind: 'token', token: `for-${wish.audience}`, lifeSeconds: 60 };
    },
    placeOf: createAddresses({
      clock,
      resolve: async (host) => {
        looked.push(host);
        return book[host] ?? Promise.reject(new Error('ENOTFOUND'));
      },
    }),
    mtls: { mode: 'disabled', unavailable: () => undefined },
    clock,
    ...options,
  });
  const ask = async (wish: HeadWish = {}) => decide(call(wish), noSignal);
  return { ask, decide, wishes, looked, clock };
}

const withToken = { headers: { authorization: `Bearer ${callersToken}` } };

test("a route's token replaces the caller's, and goes where the host is", async () => {
  const { ask, wishes } = bed();
  assert.deepEqual(await ask(withToken), {
    kind: 'pass',
    reason: 'exchange',
    set: { authorization: 'Bearer for-tool-x' },
  });
  assert.deepEqual(wishes, [
    {
      audience: 'tool-x',
      scopes: [],
      tokenUrl: '',
      subject: { token: callersToken, expiresAtMs: (nowSeconds + 300) * 1000 },
    },
  ]);
});

test('a made-up Host does not carry a token elsewhere: the request goes to the host it names', async () => {
  const { ask } = bed();
  const destination = { address: '203.0.113.66', port: 80 };
  assert.deepEqual(await ask({ ...withToken, destination }), {
    kind: 'pass',
    reason: 'exchange',
    set: { authorization: 'Bearer for-tool-x' },
    destination: { address: '10.1.0.4', port: 8080 },
  });
  const plain = await ask({ ...withToken, destination, authority: 'TOOL-X.' });
  assert.deepEqual(plain.kind === 'pass' && plain.destination, { address: '10.1.0.4', port: 80 });
  const own = await ask({ destination, authority: 'tool-own' });
  assert.deepEqual(own.kind === 'pass' && own.destination, { address: '10.1.0.7', port: 80 });
  const old = await ask({ ...withToken, destination, authority: 'old-tool' });
  assert.deepEqual(old.kind === 'pass' && old.destination, { address: '10.1.0.8', port: 80 });
  const unknown = await ask({ ...withToken, destination: undefined });
  assert.deepEqual(unknown.kind === 'pass' && unknown.destination, { address: '10.1.0.4', port: 8080 });
});

const foreign = tokenWith({ iss: 'https://api.example' });

const rows: readonly (readonly [what: string, wish: HeadWish, expected: string])[] = [
  ['no route, no token', { authority: 'example.com' }, 'no-route'],
  [
    'no route, a key of another service',
    { authority: 'example.com', headers: { authorization: 'Bearer sk-123' } },
    'no-route',
  ],
  ['no route, a password', { authority: 'example.com', headers: { authorization: 'Basic abc' } }, 'no-route'],
  [
    'no route, a token of another issuer',
    { authority: 'example.com', headers: { authorization: `Bearer ${foreign}` } },
    'no-route',
  ],
  ["no route, the caller's token to the internet", { authority: 'example.com', ...withToken }, '403 no-route'],
  ["no route, the caller's token to what may be a domain", { authority: 'tool.team1', ...withToken }, '403 no-route'],
  ["no route, the caller's token to an address", { authority: '203.0.113.66', ...withToken }, '403 no-route'],
  ["no route, the caller's token to a Service", { authority: 'other.team1.svc:8080', ...withToken }, 'default'],
  ["no route, the caller's token to a Service of the namespace", { authority: 'other', ...withToken }, 'default'],
  [
    "no route, the caller's token behind another word",
    { authority: 'other', headers: { authorization: `Token token="${callersToken}"` } },
    'default',
  ],
  ['a route, no token', {}, '401 no-token'],
  ['a route, a token of another issuer', { headers: { authorization: `Bearer ${foreign}` } }, '401 no-token'],
  ['a route that allows that', { authority: 'tool-open' }, 'no-token-allowed'],
  [
    'a route that lets the agent speak for itself',
    { authority: 'tool-own', destination: { address: '10.1.0.7', port: 80 } },
    'client-credentials',
  ],
  ['a route that passes', { authority: 'old-tool' }, 'passthrough'],
  ['a route that denies', { authority: 'a.b.evil:99', ...withToken }, '403 denied'],
  ['a host that is not known', { authority: 'nowhere', ...withToken }, '503 unresolved'],
  [
    "a caller's token that is over",
    { headers: { authorization: `Bearer ${tokenWith({ exp: nowSeconds })}` } },
    '401 expired',
  ],
  [
    "a caller's token without end",
    { headers: { authorization: `Bearer ${tokenWith({ exp: undefined })}` } },
    '401 expired',
  ],
  ['two headers', { headers: { authorization: ['Bearer a', `Bearer ${callersToken}`] } }, '400 several-authorizations'],
  ['a Host with a user', { authority: 'tool-x@example.com', ...withToken }, '400 authority'],
  ['no Host', { authority: '' }, '400 authority'],
];

for (const [what, wish, expected] of rows) {
  test(`${what}: ${expected}`, async () => {
    const decision = await bed().ask(wish);
    assert.equal(decision.kind === 'pass' ? decision.reason : `${decision.status} ${decision.reason}`, expected);
    if (decision.kind === 'pass' && !['passthrough'].includes(decision.reason)) {
      assert.ok(!JSON.stringify(decision).includes(callersToken));
    }
  });
}

test('the default token as well goes only where the host is', async () => {
  const decision = await bed().ask({
    ...withToken,
    authority: 'other:8080',
    destination: { address: '203.0.113.66', port: 80 },
  });
  assert.deepEqual(decision.kind === 'pass' && decision.destination, { address: '10.1.0.9', port: 8080 });
});

test('an address that not all programs can read is no address, and gets no token', async () => {
  const read = readRoutes('[{"host":"10.0.*.*","audience":"net"},{"host":"**","audience":"all"}]');
  const { ask } = bed({ routes: 'value' in read ? read.value : [] });
  const destination = { address: '203.0.113.66', port: 80 };
  for (const authority of ['10.0.0.999', '10.0.0.01', '010.0.0.1', '10.0.0.256:80', '[::::]', '[1:2]']) {
    const decision = await ask({ ...withToken, authority, destination });
    // No glob of labels matches what has colons.
    const reason = authority.startsWith('[') ? 'no-route' : 'unresolved';
    assert.equal(decision.kind === 'refuse' && decision.reason, reason, authority);
  }
  const good = await ask({ ...withToken, authority: '10.0.0.9', destination });
  assert.deepEqual(good.kind === 'pass' && good.destination, { address: '10.0.0.9', port: 80 });
});

test('the pod itself gets no token, by whatever name', async () => {
  const placeOf = async (host: string, destination: string | undefined) => {
    const [address = ''] =
      ({ localhost: ['127.0.0.1'], me: ['10.1.0.77'], zero: ['0.0.0.0'], six: ['::1'] } as Record<string, string[]>)[
        host
      ] ?? [];
    return address === destination ? ({ kind: 'there' } as const) : ({ kind: 'elsewhere', address } as const);
  };
  const { ask } = bed({ placeOf, own: ['10.1.0.77'] });
  for (const authority of ['localhost:8080', 'me', 'zero', 'six']) {
    const decision = await ask({ ...withToken, authority });
    assert.equal(decision.kind === 'refuse' && decision.reason, 'itself', authority);
  }
  const direct = await ask({ ...withToken, authority: 'me', destination: { address: '10.1.0.77', port: 80 } });
  assert.equal(direct.kind === 'refuse' && direct.reason, 'itself');
});

test("without a default audience the caller's token goes nowhere unnamed", async () => {
  const decision = await bed({ fallback: undefined }).ask({ authority: 'example.com', ...withToken });
  assert.equal(decision.kind === 'refuse' && `${decision.status} ${decision.error}`, '403 no_route');
});

const outcomes: readonly (readonly [outcome: TokenOutcome, status: number, error: string, told: RegExp])[] = [
  [{ kind: 'refused', status: 401, code: 'invalid_grant' }, 401, 'invalid_token', /\(invalid_grant\)$/],
  [{ kind: 'refused', status: 403, code: 'access_denied' }, 403, 'access_denied', /\(access_denied\)$/],
  [
    { kind: 'misconfigured', code: 'invalid_target', description: 'check the audience' },
    503,
    'not_configured',
    /check the audience \(invalid_target\)/,
  ],
  [{ kind: 'unavailable', description: 'it is away', retryAfterSeconds: 7 }, 503, 'idp_unavailable', /it is away/],
];

for (const [outcome, status, error, told] of outcomes) {
  test(`${outcome.kind} is told as ${status} ${error}`, async () => {
    const decision = await bed({}, outcome).ask(withToken);
    assert.ok(decision.kind === 'refuse');
    assert.equal(`${decision.status} ${decision.error}`, `${status} ${error}`);
    assert.match(decision.description, told);
    if (status === 503) assert.equal(decision.headers?.['retry-after'], outcome.kind === 'unavailable' ? '7' : '5');
    if (status === 401) assert.match(decision.headers?.['www-authenticate'] ?? '', /^Bearer realm=/);
  });
}

test('with a signal that has ended: what is no route and holds no token passes at once; no token is fetched, no name looked up', async () => {
  const { decide, wishes, looked } = bed();
  const plain = decide(call({ authority: 'other', headers: {} }), AbortSignal.abort());
  assert.ok(!(plain instanceof Promise));
  assert.equal(plain.reason, 'no-route');
  for (const authority of ['tool-x', 'other.team1.svc', 'old-tool'])
    await assert.rejects(async () => decide(call({ ...withToken, authority }), AbortSignal.abort()), authority);
  assert.deepEqual([wishes, looked], [[], []]);
});
