/** Beside Istio's ambient mode: its node proxy's sockets and rules are imitated in the pod's namespace, and every call still passes our proxy once. */

import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { environment } from '../runtime/sidecar/capture/environment.ts';
import { addresses, type Answering, cannotCapture, type Dial, openPodNetwork } from './pod-network.ts';

const skip = await cannotCapture();

const { pod, pod6, outside, outside6 } = addresses;
const role = path.join(import.meta.dirname, 'proxy-init.ts');
const mark = 0x5_39;
const app = 1000;
const proxy = 1337;

const both = (row: Omit<Answering, 'host'>): readonly Answering[] =>
  ['0.0.0.0', '::'].map((host) => ({ ...row, host }));

/** The mesh captures what is not marked, ours included, in chains that come after ours. */
const meshRules = `
  for iptables in iptables-nft ip6tables-nft; do
    $iptables -t nat -A OUTPUT -p tcp -m mark ! --mark 0x539/0xfff -j REDIRECT --to-ports 15001
    $iptables -t nat -A PREROUTING -p tcp ! --dport 15008 -m mark ! --mark 0x539/0xfff -j REDIRECT --to-ports 15006
  done`;

const dials: readonly (readonly [says: string, dial: Dial, gives: string])[] = [
  ['the application outward: to our proxy', { uid: app, to: [outside, 80] }, `outbound ${outside}:80`],
  ['the same over IPv6', { uid: app, to: [outside6, 80] }, `outbound [${outside6}]:80`],
  ['our proxy outward: to the mesh', { uid: proxy, to: [outside, 80] }, `mesh ${outside}:80`],
  ['the same over IPv6', { uid: proxy, to: [outside6, 80] }, `mesh [${outside6}]:80`],
  ['the mesh outward: on its way', { mark, to: [outside, 80] }, 'web 80'],
  ['the mesh delivers a call: to our proxy', { mark, to: [pod, 8080] }, `inbound ${pod}:8080`],
  ['the same over IPv6', { mark, to: [pod6, 8080] }, `inbound [${pod6}]:8080`],
  ['the mesh delivers to an excluded port', { mark, to: [pod, 9000] }, 'app 9000'],
  ['the mesh delivers to the health port', { mark, to: [pod, 15_125] }, 'health 15125'],
  ['the mesh delivers to the inbound port', { mark, to: [pod, 15_124] }, 'refused'],
  ['our proxy delivers: not to the mesh again', { uid: proxy, to: [pod, 8080] }, 'app 8080'],
  ['the same over IPv6', { uid: proxy, to: [pod6, 8080] }, 'app 8080'],
];

test('calls pass our proxy once, in both directions', { skip }, async (t) => {
  const network = await openPodNetwork(t);
  assert.equal(network.run('pod', ['sh', '-ec', meshRules]).status, 0);
  const ran = network.run('pod', [process.execPath, role], environment);
  assert.equal(ran.status, 0, ran.stdout + ran.stderr);
  await network.answer('pod', [
    ...both({ name: 'outbound', port: 15_123, original: true }),
    ...both({ name: 'inbound', port: 15_124, original: true }),
    ...both({ name: 'health', port: 15_125 }),
    ...both({ name: 'mesh', port: 15_001, original: true }),
    ...[8080, 9000, 15_008].flatMap((port) => both({ name: 'app', port })),
  ]);
  await network.answer('neighbour', both({ name: 'web', port: 80 }));

  const answers = network.dial(
    'pod',
    dials.map(([, dial]) => dial),
  );
  assert.deepEqual(
    dials.map(([says], index) => `${says} → ${answers[index]}`),
    dials.map(([says, , gives]) => `${says} → ${gives}`),
  );
  assert.deepEqual(
    network.dial('neighbour', [{ to: [pod, 15_008] }, { to: [pod, 8080] }, { to: [pod6, 15_008] }]),
    ['app 15008', `inbound ${pod}:8080`, 'app 15008'],
    'tunnels arrive where they are taken, plain calls at our proxy',
  );
});
