import assert from 'node:assert/strict';
import { test } from 'node:test';
import { captureSettings } from '../../../../runtime/sidecar/capture/capture-settings.ts';
import { environment } from './environment.ts';

test('the webhook’s variables', () => {
  assert.deepEqual(
    captureSettings({ ...environment, INBOUND_PORTS_EXCLUDE: '9001, 9000,9001,', IPTABLES_BACKEND: 'nft' }),
    {
      outboundPort: 15_123,
      inboundPort: 15_124,
      healthPort: 15_125,
      proxyUid: 1337,
      outboundExclude: [5432],
      inboundExclude: [9000, 9001],
      backend: 'nft',
    },
  );
});

test('lists and backend may be absent or empty', () => {
  const { inboundExclude, outboundExclude, backend } = captureSettings({
    ...environment,
    INBOUND_PORTS_EXCLUDE: undefined,
    OUTBOUND_PORTS_EXCLUDE: '',
    IPTABLES_BACKEND: '',
  });
  assert.deepEqual([inboundExclude, outboundExclude, backend], [[], [], undefined]);
});

const refused: readonly (readonly [says: string, change: Readonly<Record<string, string>>, message: RegExp])[] = [
  ['a missing port', { PROXY_PORT: '' }, /^PROXY_PORT is not set$/],
  ['a port that is none', { HEALTH_PORT: '0' }, /^HEALTH_PORT: "0" is no number from 1 to 65535$/],
  ['a port too high', { INBOUND_PROXY_PORT: '65536' }, /^INBOUND_PROXY_PORT: "65536"/],
  ['a port with more behind it', { ADMIN_PORT: '9901 -j ACCEPT' }, /^ADMIN_PORT: "9901 -j ACCEPT"/],
  ['user 0', { PROXY_UID: '0' }, /^PROXY_UID: "0"/],
  ['no user', { PROXY_UID: '4294967295' }, /^PROXY_UID/],
  ['a list with a word', { OUTBOUND_PORTS_EXCLUDE: '80,http' }, /^OUTBOUND_PORTS_EXCLUDE: "http"/],
  ['a backend that is none', { IPTABLES_BACKEND: 'nftables' }, /^IPTABLES_BACKEND: "nftables" is none of nft, legacy$/],
  ['one port for two', { HEALTH_PORT: '15124' }, /^HEALTH_PORT: port 15124 has another role already$/],
  ['an own port opened', { INBOUND_PORTS_EXCLUDE: '15123' }, /^INBOUND_PORTS_EXCLUDE: 15123 is the sidecar's own/],
  ['several at once', { PROXY_PORT: 'x', PROXY_UID: 'y' }, /^PROXY_PORT: .*; PROXY_UID: /],
];

for (const [says, change, message] of refused) {
  test(`refused: ${says}`, () => {
    assert.throws(() => captureSettings({ ...environment, ...change }), { code: 'CAPTURE_SETTINGS_INVALID', message });
  });
}
