/** The pod's files of names: what is read, and which names are asked for in which order. */

import assert from 'node:assert/strict';
import test from 'node:test';
import { candidates, nameSettings } from '../../../../runtime/sidecar/outbound/names.ts';

const hosts = `# Kubernetes-managed hosts file.
127.0.0.1\tlocalhost
::1\tlocalhost ip6-localhost
fe80::1%eth0 scoped
10.244.0.9\tagent-1 Agent.Example. # the pod
not-an-address name
`;
const resolv = `search team1.svc.cluster.local svc.cluster.local cluster.local
nameserver 10.96.0.10
nameserver nonsense
options ndots:5 timeout:1
`;

test('names, servers, domains and the number of dots', () => {
  const read = nameSettings(hosts, resolv);
  assert.deepEqual(Object.fromEntries(read.hosts), {
    localhost: ['127.0.0.1', '::1'],
    'ip6-localhost': ['::1'],
    scoped: ['fe80::1'],
    'agent-1': ['10.244.0.9'],
    'agent.example': ['10.244.0.9'],
  });
  assert.deepEqual(read.servers, ['10.96.0.10']);
  assert.deepEqual(read.search, ['team1.svc.cluster.local', 'svc.cluster.local', 'cluster.local']);
  assert.equal(read.ndots, 5);
  assert.deepEqual(nameSettings('', ''), { hosts: new Map(), servers: [], search: [], ndots: 1 });
});

test('a name of few dots is tried below the domains first, one of many as it is, one that ends in a dot alone', () => {
  const settings = { search: ['team1.svc.cluster.local', 'svc.cluster.local'], ndots: 5 };
  assert.deepEqual(candidates('tool', settings), ['tool.team1.svc.cluster.local', 'tool.svc.cluster.local', 'tool']);
  assert.deepEqual(candidates('a.b.c.d.e.f', settings)[0], 'a.b.c.d.e.f');
  assert.deepEqual(candidates('tool.example.', settings), ['tool.example']);
  assert.deepEqual(candidates('tool', { search: [], ndots: 1 }), ['tool']);
});

test('what reads as a Service is never asked for in the domains of the node', () => {
  const cluster = ['team1.svc.example.org', 'svc.example.org', 'example.org'];
  const settings = { search: [...cluster, 'corp.example'], ndots: 5 };
  assert.deepEqual(candidates('tool', settings), [...cluster.map((domain) => `tool.${domain}`), 'tool']);
  assert.ok(!candidates('tool.team2.svc', settings).some((name) => name.endsWith('corp.example')));
  assert.ok(candidates('wiki.intra', settings).includes('wiki.intra.corp.example'));
  assert.deepEqual(candidates('tool', { search: ['corp.example'], ndots: 1 }), ['tool.corp.example', 'tool']);
});
