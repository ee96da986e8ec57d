/** What comes to the explicit proxy: where each request goes, and what is not passed on at all. */

import assert from 'node:assert/strict';
import test from 'node:test';
import type { Decide, Decision } from '../../../../runtime/sidecar/decision.ts';
import { createAddresses } from '../../../../runtime/sidecar/outbound/addresses.ts';
import { createExplicit, ownFamilyFirst } from '../../../../runtime/sidecar/outbound/explicit.ts';
import { readRoutes } from '../../../../runtime/sidecar/outbound/routes.ts';
import { fakeClock } from '../../../support/fake-clock.ts';
import type { HeadWish } from '../inbound/fixtures.ts';
import { call, now } from './fixtures.ts';

const read = readRoutes(
  JSON.stringify([
    { host: 'shut', action: 'deny' },
    { host: 'tool', audience: 'tool' },
  ]),
);
const book: Readonly<Record<string, readonly string[]>> = {
  tool: ['10.1.0.4'],
  shut: ['10.1.0.5'],
  me: ['10.9.9.9'],
  loop: ['127.0.0.1'],
  odd: ['10.0.0.999'],
  six: ['fd00::4'],
};
const proxy = { address: '127.0.0.1', port: 15123 };
const passing: Decision = { kind: 'pass', reason: 'no-route' };

function bed(outbound: Decide = () => passing) {
  const heads: unknown[] = [];
  const decide = createExplicit({
    outbound: (head, signal) => {
      heads.push(head.destination);
      return outbound(head, signal);
    },
    routes: 'value' in read ? read.value : [],
    placeOf: createAddresses({
      clock: fakeClock(now),
      resolve: async (host) => book[host] ?? Promise.reject(new Error('ENOTFOUND')),
    }),
    own: ['10.9.9.9'],
    port: 15123,
  });
  const ask = async (wish: HeadWish) => decide(call({ destination: proxy, ...wish }), new AbortController().signal);
  return { ask, heads };
}

const rows: readonly (readonly [says: string, wish: HeadWish, wanted: string])[] = [
  ['by its host and port 80', { authority: 'tool' }, 'pass no-route 10.1.0.4:80'],
  ['by its own port', { authority: 'tool:8080' }, 'pass no-route 10.1.0.4:8080'],
  ['by its address', { authority: '10.7.7.7' }, 'pass no-route 10.7.7.7:80'],
  ['by IPv6', { authority: 'six' }, 'pass no-route fd00::4:80'],
  ['to a host without address', { authority: 'nowhere' }, 'refuse unresolved'],
  ['to an address that nobody can read', { authority: 'odd' }, 'refuse unresolved'],
  ['to no host', { authority: 'a b' }, 'refuse authority'],
  ['to another port of this pod', { authority: '127.0.0.1:8080' }, 'pass no-route 127.0.0.1:8080'],
  ['to the proxy by loopback', { authority: '127.0.0.1:15123' }, 'refuse loop'],
  ['to the proxy by its pod', { authority: 'me:15123' }, 'refuse loop'],
  ['to the proxy by a name', { authority: 'loop:15123' }, 'refuse loop'],
  ['to the proxy in IPv6 clothes', { authority: '[::ffff:127.0.0.1]:15123' }, 'refuse loop'],
  ['by https', { authority: 'tool', headers: { ':scheme': 'https' } }, 'refuse not-a-tunnel'],
  ['CONNECT', { method: 'CONNECT', authority: 'tool:443' }, 'pass tunnel 10.1.0.4:443'],
  ['CONNECT without a port', { method: 'CONNECT', authority: 'tool' }, 'refuse authority'],
  ['CONNECT to a closed host', { method: 'CONNECT', authority: 'shut:443' }, 'refuse denied'],
  ['CONNECT to the proxy', { method: 'CONNECT', authority: 'loop:15123' }, 'refuse loop'],
  ['CONNECT to a host without address', { method: 'CONNECT', authority: 'nowhere:443' }, 'refuse unresolved'],
];
for (const [says, wish, wanted] of rows) {
  test(`a request to the proxy, ${says}`, async () => {
    const got = await bed().ask(wish);
    const where = got.kind === 'pass' ? ` ${got.destination?.address}:${got.destination?.port}` : '';
    assert.equal(`${got.kind} ${got.reason}${where}`, wanted);
  });
}

test('the rules see no destination, so they look the host of a token up themselves, and theirs counts', async () => {
  const destination = { address: '10.1.0.4', port: 81 };
  const { ask, heads } = bed(() => ({ kind: 'pass', reason: 'exchange', destination, remove: ['x'] }));
  assert.deepEqual(await ask({ authority: 'tool:81' }), {
    kind: 'pass',
    reason: 'exchange',
    destination,
    remove: ['x', 'proxy-authorization'],
  });
  assert.deepEqual(heads, [undefined]);
});

test('what comes out of a tunnel is decided like a captured call', async () => {
  const { ask, heads } = bed();
  const destination = { address: '10.1.0.4', port: 80 };
  assert.equal(await ask({ destination, authority: 'nowhere' }), passing);
  assert.deepEqual(heads, [destination]);
});

test('of several addresses that of the pod’s own family comes first', async () => {
  const both = async () => ['10.0.0.1', 'fd00::1'];
  assert.deepEqual(await ownFamilyFirst(both, ['10.9.9.9'])('x'), ['10.0.0.1', 'fd00::1']);
  assert.deepEqual(await ownFamilyFirst(both, ['fd00::9'])('x'), ['fd00::1', '10.0.0.1']);
});
