import assert from 'node:assert/strict';
import { test } from 'node:test';
import { backendChoice, type Evidence, isNode } from '../../../../runtime/sidecar/capture/backend.ts';

const ours = ':ROSSOCTL_INBOUND - [0:0]\n-A PREROUTING -p tcp -j ROSSOCTL_INBOUND\n';
const others = ':MESH - [0:0]\n-A OUTPUT -j MESH\n-A MESH -j RETURN\n';
const nothing: Evidence = { wanted: undefined, saved: { nft: '', legacy: '' }, modules: undefined };

const rows: readonly (readonly [
  says: string,
  evidence: Partial<Evidence>,
  order: readonly string[],
  because: RegExp,
])[] = [
  ['nothing to go by', {}, ['nft', 'legacy'], /current/],
  ['neither can be read', { saved: { nft: undefined, legacy: undefined } }, ['nft', 'legacy'], /current/],
  ['one is asked for', { wanted: 'legacy', saved: { nft: ours, legacy: '' } }, ['legacy'], /IPTABLES_BACKEND/],
  ['an earlier run', { saved: { nft: others, legacy: ours } }, ['legacy', 'nft'], /earlier run/],
  ['rules of others', { saved: { nft: '', legacy: others } }, ['legacy', 'nft'], /others/],
  ['rules of others in both', { saved: { nft: others, legacy: '-A INPUT -j DROP\n' } }, ['nft', 'legacy'], /others/],
  ['one module', { modules: 'ip_tables 36864 2 - Live 0x0\n' }, ['legacy', 'nft'], /alone/],
  ['the other module', { modules: 'xt_owner 1 0 - Live\nnf_tables 1 2 - Live\n' }, ['nft', 'legacy'], /alone/],
  ['both modules', { modules: 'ip_tables 1 0 -\nnf_tables 1 0 -\n' }, ['nft', 'legacy'], /current/],
];

for (const [says, evidence, order, because] of rows) {
  test(`backend: ${says}`, () => {
    const choice = backendChoice({ ...nothing, ...evidence });
    assert.deepEqual(choice.order, order);
    assert.match(choice.because, because);
  });
}

test('a node is known by the kubelet’s chains', () => {
  const node = ':KUBE-IPTABLES-HINT - [0:0]\n';
  assert.equal(isNode({ ...nothing, saved: { nft: '', legacy: node } }), true);
  assert.equal(isNode({ ...nothing, saved: { nft: node, legacy: undefined } }), true);
  assert.equal(isNode({ ...nothing, saved: { nft: ours, legacy: others } }), false);
});
