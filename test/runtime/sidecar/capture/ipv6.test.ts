import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ipv6In } from '../../../../runtime/sidecar/capture/ipv6.ts';

const loopback = '00000000000000000000000000000001 01 80 10 80       lo\n';
const link = 'fe800000000000000042c0fffea80002 02 40 20 80     eth0\n';

test('what the kernel lists as addresses', () => {
  assert.equal(ipv6In(undefined), 'off');
  assert.equal(ipv6In(''), 'unused');
  assert.equal(ipv6In(loopback), 'unused');
  assert.equal(ipv6In(loopback + link), 'on');
});
