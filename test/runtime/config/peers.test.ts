/** Peers of network policies in the configuration: what is accepted, and what is refused with its path instead of by the API server. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stringify } from 'yaml';
import type { LayerSource } from '../../../runtime/config/layers.ts';
import { isProblem, parseConfig } from '../../../runtime/config/sources.ts';
import { namespaceSource, platformSource } from './layer-values.ts';

function parsed(networkPolicy: unknown, source: LayerSource = platformSource) {
  return parseConfig(stringify({ networkPolicy }), source);
}

/** Every form that a NetworkPolicy has. */
export const accepted: readonly (readonly [what: string, peer: unknown])[] = [
  ['pods of the agent’s own namespace', { podSelector: {} }],
  ['labelled pods of it', { podSelector: { matchLabels: { app: 'gateway' } } }],
  ['all pods of a namespace', { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'ingress' } } }],
  ['labelled pods of every namespace', { namespaceSelector: {}, podSelector: { matchLabels: { 'k8s.io/app': '' } } }],
  ['every pod, in so many words', { namespaceSelector: {}, podSelector: {} }],
  [
    'every operator of an expression',
    {
      podSelector: {
        matchExpressions: [
          { key: 'a', operator: 'In', values: ['x', 'y'] },
          { key: 'b', operator: 'NotIn', values: ['x'] },
          { key: 'c', operator: 'Exists' },
          { key: 'd', operator: 'DoesNotExist', values: [] },
        ],
      },
    },
  ],
  ['a range with holes', { ipBlock: { cidr: '10.0.0.0/8', except: ['10.1.0.0/16'] } }],
  ['an IPv6 address', { ipBlock: { cidr: 'fd00::10/128' } }],
  [
    'ports by number, name and range',
    { podSelector: {}, ports: [{ port: 443 }, { protocol: 'UDP', port: 'dns' }, { port: 8000, endPort: 8010 }] },
  ],
  ['a protocol on all ports', { podSelector: {}, ports: [{ protocol: 'TCP' }] }],
];

for (const [what, peer] of accepted) {
  test(`accepts ${what}`, () => {
    const result = parsed({ ingressFrom: [peer], egressTo: [peer] });
    assert.ok(!isProblem(result), JSON.stringify(result));
  });
}

const refused: readonly (readonly [rule: string, peer: unknown, below: string, part: string])[] = [
  ['a peer that says nothing', {}, '', 'names nobody; write podSelector, namespaceSelector or ipBlock'],
  ['ports of nobody', { ports: [{ port: 80 }] }, '', 'names nobody'],
  ['selectors and addresses at once', { podSelector: {}, ipBlock: { cidr: '10.0.0.0/8' } }, '', 'make two entries'],
  ['the whole cluster by omission', { namespaceSelector: {} }, '.namespaceSelector', 'write podSelector: {} beside it'],
  [
    'the whole cluster by empty lists',
    { namespaceSelector: { matchLabels: {}, matchExpressions: [] } },
    '.namespaceSelector',
    'every pod of every namespace',
  ],
  ['a mistyped selector', { podSelectr: {} }, '.podSelectr', 'did you mean podSelector?'],
  ['a selector of another API', { podSelector: { app: 'x' } }, '.podSelector.app', 'allowed are matchLabels'],
  ['a label that is no label', { podSelector: { matchLabels: { a: 'x y' } } }, '.podSelector.matchLabels.a', 'x y'],
  ['a number for a label', { podSelector: { matchLabels: { a: 1 } } }, '.podSelector.matchLabels.a', 'in quotes: "1"'],
  [
    'a key that is no key',
    { podSelector: { matchLabels: { 'a b': 'x' } } },
    '.podSelector.matchLabels',
    '"a b" cannot',
  ],
  [
    'an unknown operator',
    { podSelector: { matchExpressions: [{ key: 'a', operator: 'Equals' }] } },
    '.podSelector.matchExpressions[0].operator',
    'one of In, NotIn',
  ],
  [
    'In without values',
    { podSelector: { matchExpressions: [{ key: 'a', operator: 'In' }] } },
    '.podSelector.matchExpressions[0]',
    'In takes at least one entry',
  ],
  [
    'Exists with values',
    { podSelector: { matchExpressions: [{ key: 'a', operator: 'Exists', values: ['x'] }] } },
    '.podSelector.matchExpressions[0]',
    'Exists takes no values',
  ],
  [
    'an expression without a key',
    { podSelector: { matchExpressions: [{ operator: 'Exists' }] } },
    '.podSelector.matchExpressions[0]',
    'has no key',
  ],
  ['no range', { ipBlock: {} }, '.ipBlock', 'has no cidr'],
  ['an address without its prefix', { ipBlock: { cidr: '10.0.0.1' } }, '.ipBlock.cidr', 'no range of addresses'],
  ['a host’s bits', { ipBlock: { cidr: '10.0.0.1/8' } }, '.ipBlock.cidr', 'beyond its prefix; write /32'],
  [
    'a hole elsewhere',
    { ipBlock: { cidr: '10.0.0.0/8', except: ['11.0.0.0/16'] } },
    '.ipBlock.except[0]',
    'no part of cidr',
  ],
  [
    'a hole that is all',
    { ipBlock: { cidr: '10.0.0.0/8', except: ['10.0.0.0/8'] } },
    '.ipBlock.except[0]',
    'no part of cidr',
  ],
  ['a hole that is no range', { ipBlock: { cidr: '10.0.0.0/8', except: ['x'] } }, '.ipBlock.except[0]', 'no range'],
  ['no ports at all', { podSelector: {}, ports: [] }, '.ports', 'is empty; remove it for all ports'],
  ['a port beyond the last', { podSelector: {}, ports: [{ port: 70_000 }] }, '.ports[0].port', '70000 is no port'],
  ['a port in quotes', { podSelector: {}, ports: [{ port: '80' }] }, '.ports[0].port', 'no port'],
  ['a section for a port', { podSelector: {}, ports: [{ port: { a: 1 } }] }, '.ports[0].port', 'no port'],
  ['an end without a beginning', { podSelector: {}, ports: [{ endPort: 80 }] }, '.ports[0].endPort', 'needs a port'],
  [
    'an end before the beginning',
    { podSelector: {}, ports: [{ port: 80, endPort: 79 }] },
    '.ports[0].endPort',
    'below port 80',
  ],
  ['an unknown protocol', { podSelector: {}, ports: [{ protocol: 'tcp' }] }, '.ports[0].protocol', 'one of TCP'],
];

for (const [rule, peer, below, part] of refused) {
  test(`refuses ${rule}, with its path`, () => {
    for (const list of ['ingressFrom', 'egressTo']) {
      const result = parsed({ [list]: [{ podSelector: {} }, peer] });
      assert.ok(isProblem(result), `accepted: ${JSON.stringify(peer)}`);
      assert.equal(result.path, `networkPolicy.${list}[1]${below}`);
      assert.ok(result.message.includes(part), result.message);
    }
  });
}

test('peers of DNS are peers, without ports, which DNS has of its own', () => {
  assert.ok(!isProblem(parsed({ dns: { profile: 'node-local', peers: [{ ipBlock: { cidr: 'fd00::10/128' } }] } })));
  const result = parsed({ dns: { peers: [{ podSelector: {}, ports: [{ port: 53 }] }] } });
  assert.ok(isProblem(result) && result.path === 'networkPolicy.dns.peers[0].ports', JSON.stringify(result));
  const unknown = parsed({ dns: { profile: 'bind' } });
  assert.ok(
    isProblem(unknown) && unknown.message.includes('one of default, openshift, node-local'),
    JSON.stringify(unknown),
  );
});

test('where DNS is is the platform’s alone; whom agents may talk to is a namespace’s too', () => {
  const result = parsed({ dns: { profile: 'openshift' } }, namespaceSource);
  assert.ok(isProblem(result) && result.path === 'networkPolicy.dns', JSON.stringify(result));
  assert.match(result.message, /the platform's alone/);
  assert.ok(!isProblem(parsed({ ingressFrom: [{ podSelector: {} }], verifiedEgress: 'agents' }, namespaceSource)));
});
