/** What proxy-init captures and what it leaves alone, with real packets and both backends of iptables. */

import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { environment } from '../runtime/sidecar/capture/environment.ts';
import { addresses, type Answering, cannotCapture, type Dial, openPodNetwork, type Place } from './pod-network.ts';

const skip = await cannotCapture();

const { pod, pod6, podLink6, outside, outside6, neighbour, probe, metadata } = addresses;
const role = path.join(import.meta.dirname, 'proxy-init.ts');
const app = 1000;
const proxy = 1337;

const both = (row: Omit<Answering, 'host'>): readonly Answering[] =>
  ['0.0.0.0', '::'].map((host) => ({ ...row, host }));

const inPod: readonly Answering[] = [
  ...both({ name: 'outbound', port: 15_123, original: true }),
  ...both({ name: 'inbound', port: 15_124, original: true }),
  ...both({ name: 'health', port: 15_125 }),
  ...[22, 8080, 9000, 15_008].flatMap((port) => both({ name: 'app', port })),
  ...[8080, 9000].flatMap((port) => both({ name: 'app', port, udp: true })),
  { name: 'app', host: '127.0.0.1', port: 3000 },
];
const beyond: readonly Answering[] = [
  ...[80, 5432, 15_124].flatMap((port) => both({ name: 'web', port })),
  // An answer over UDP comes from where it was asked only if the socket has that address.
  ...[53, 443].flatMap((port) => [outside, outside6].map((host) => ({ name: 'web', host, port, udp: true }))),
];

type More = Omit<Dial, 'to' | 'uid'>;

const fromOutside: readonly (readonly [says: string, to: Dial['to'], gives: string, more?: More])[] = [
  ['the application', [pod, 8080], `inbound ${pod}:8080`],
  ['a port that nobody mentioned', [pod, 22], `inbound ${pod}:22`],
  ['a port where nobody listens', [pod, 4321], `inbound ${pod}:4321`],
  ["a port of the application's loopback", [pod, 3000], `inbound ${pod}:3000`],
  ['over IPv6', [pod6, 8080], `inbound [${pod6}]:8080`],
  ['over a link-local address', [`${podLink6}%eth0`, 8080], `inbound [${podLink6}]:8080`],
  ['an excluded port', [pod, 9000], 'app 9000'],
  ['an excluded port over IPv6', [pod6, 9000], 'app 9000'],
  ['the health port', [pod, 15_125], 'health 15125'],
  ['the health port over IPv6', [pod6, 15_125], 'health 15125'],
  ["the mesh's tunnels", [pod, 15_008], 'app 15008'],
  ['the outbound port, dialled: inbound like any other', [pod, 15_123], `inbound ${pod}:15123`],
  ['the outbound port, dialled over IPv6', [pod6, 15_123], `inbound [${pod6}]:15123`],
  ['the inbound port, dialled', [pod, 15_124], 'refused'],
  ['the inbound port, dialled over IPv6', [pod6, 15_124], 'refused'],
  ["the admin port: the inbound port's to refuse", [pod, 9901], `inbound ${pod}:9901`],
  ["a neighbour with the address of ambient's probes", [pod, 8080], `inbound ${pod}:8080`, { source: probe }],
  ['UDP to the application', [pod, 8080], 'refused', { over: 'udp' }],
  ['UDP to the application over IPv6', [pod6, 8080], 'refused', { over: 'udp' }],
  ['SCTP', [pod, 8080], 'refused', { over: 'sctp' }],
  ['SCTP over IPv6', [pod6, 8080], 'refused', { over: 'sctp' }],
  ['UDP to an excluded port', [pod, 9000], 'app udp 9000', { over: 'udp' }],
];

const fromPod: readonly (readonly [says: string, uid: number, to: Dial['to'], gives: string, more?: More])[] = [
  ['the application outward', app, [outside, 80], `outbound ${outside}:80`],
  ['root outward', 0, [outside, 80], `outbound ${outside}:80`],
  ['over IPv6', app, [outside6, 80], `outbound [${outside6}]:80`],
  ['to the node', app, [neighbour, 80], `outbound ${neighbour}:80`],
  ['to a metadata server', app, [metadata, 80], `outbound ${metadata}:80`],
  ['DNS over TCP', app, [outside, 53], `outbound ${outside}:53`],
  ["somebody's port of the inbound port's number", app, [outside, 15_124], `outbound ${outside}:15124`],
  ['an excluded port', app, [outside, 5432], 'web 5432'],
  ['an excluded port over IPv6', app, [outside6, 5432], 'web 5432'],
  ['the proxy outward', proxy, [outside, 80], 'web 80'],
  ['the proxy outward over IPv6', proxy, [outside6, 80], 'web 80'],
  ['DNS over UDP', app, [outside, 53], 'web udp 53', { over: 'udp' }],
  ['QUIC outward', app, [outside, 443], 'web udp 443', { over: 'udp' }],
  ['QUIC outward over IPv6', app, [outside6, 443], 'web udp 443', { over: 'udp' }],
  ['loopback', app, ['127.0.0.1', 3000], 'app 3000'],
  ['loopback over IPv6', app, ['::1', 8080], 'app 8080'],
  ['UDP on loopback', app, ['127.0.0.1', 8080], 'app udp 8080', { over: 'udp' }],
  ["the pod's own address", app, [pod, 8080], 'app 8080'],
  ["the pod's own IPv6 address", app, [pod6, 8080], 'app 8080'],
  ['the proxy to the application', proxy, [pod, 8080], 'app 8080'],
  ['the proxy to the application over IPv6', proxy, [pod6, 8080], 'app 8080'],
  ['the outbound port, dialled on loopback', app, ['127.0.0.1', 15_123], 'refused'],
  ['the inbound port, dialled on loopback', app, ['127.0.0.1', 15_124], 'refused'],
  ["the inbound port, dialled at the pod's address", app, [pod, 15_124], 'refused'],
  ['the proxy to itself: it cannot go round', proxy, [pod, 15_124], 'refused'],
  ['the proxy to itself over IPv6', proxy, [pod6, 15_123], 'refused'],
];

interface Row extends Dial {
  readonly says: string;
  readonly from: Place;
  readonly gives: string;
}

const rows: readonly Row[] = [
  ...fromOutside.map(([says, to, gives, more]): Row => ({ says, from: 'neighbour', to, gives, ...more })),
  ...fromPod.map(([says, uid, to, gives, more]): Row => ({ says, from: 'pod', uid, to, gives, ...more })),
];

/** Every row with its answer, so that a difference shows which call it was. */
function outcome(dial: (place: Place, rows: readonly Dial[]) => readonly string[]): readonly string[] {
  return (['neighbour', 'pod'] as const).flatMap((place) => {
    const here = rows.filter(({ from }) => from === place);
    const answers = dial(place, here);
    return here.map(({ says }, index) => `${place}: ${says} → ${answers[index]}`);
  });
}

for (const backend of ['nft', 'legacy'] as const) {
  test(`${backend}: each kind of connection goes where it should`, { skip }, async (t) => {
    const network = await openPodNetwork(t);
    await network.answer('pod', inPod);
    await network.answer('neighbour', beyond);
    const before = network.dial('neighbour', [{ to: [pod, 8080] }, { to: [pod, 8080], over: 'sctp' }]);
    assert.deepEqual([before[0], before[1] === 'refused'], ['app 8080', false], 'neither captured nor refused before');

    const ran = network.run('pod', [process.execPath, role], { ...environment, IPTABLES_BACKEND: backend });
    assert.equal(ran.status, 0, ran.stdout + ran.stderr);

    assert.deepEqual(
      outcome(network.dial),
      rows.map(({ from, says, gives }) => `${from}: ${says} → ${gives}`),
    );
  });
}

test('a connection that another rule keeps from being redirected is refused', { skip }, async (t) => {
  const network = await openPodNetwork(t);
  await network.answer('pod', inPod);
  const ran = network.run('pod', [process.execPath, role], environment);
  assert.equal(ran.status, 0, ran.stdout + ran.stderr);
  const past = 'for i in iptables-nft ip6tables-nft; do $i -t nat -I PREROUTING -p tcp --dport 8080 -j ACCEPT; done';
  assert.equal(network.run('pod', ['sh', '-ec', past]).status, 0);
  const rows = [pod, pod6, `${podLink6}%eth0`].map((host): Dial => ({ to: [host, 8080] }));
  assert.deepEqual(network.dial('neighbour', rows), ['refused', 'refused', 'refused']);
});
