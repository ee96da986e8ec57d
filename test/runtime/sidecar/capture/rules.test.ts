import assert from 'node:assert/strict';
import { test } from 'node:test';
import { captureSettings } from '../../../../runtime/sidecar/capture/capture-settings.ts';
import { captureRules, chains, families, jump, line } from '../../../../runtime/sidecar/capture/rules.ts';
import { environment } from './environment.ts';

const settings = captureSettings(environment);
const lines = (family: 'ipv4' | 'ipv6', chain: string) =>
  captureRules(settings, family)
    .map(line)
    .filter((each) => each.startsWith(`-A ${chain} `))
    .map((each) => each.slice(`-A ${chain} `.length));

test('inbound: all TCP but what is named', () => {
  assert.deepEqual(lines('ipv4', 'ROSSOCTL_INBOUND'), [
    '-p tcp -m tcp --dport 15125 -j RETURN',
    '-p tcp -m tcp --dport 9000 -j RETURN',
    '-p tcp -m tcp --dport 15008 -j RETURN',
    '-p tcp -j REDIRECT --to-ports 15124',
  ]);
});

test('outbound: all TCP of all users but the proxy’s', () => {
  assert.deepEqual(lines('ipv4', 'ROSSOCTL_OUTBOUND'), [
    '-m owner --uid-owner 1337 -j RETURN',
    '-o lo -p tcp -m tcp --dport 15125 -m mark --mark 0x539/0xfff -j RETURN',
    '-o lo -p tcp -m tcp --dport 9000 -m mark --mark 0x539/0xfff -j RETURN',
    '-o lo -p tcp -m mark --mark 0x539/0xfff -j DNAT --to-destination :15124',
    '-m mark --mark 0x539/0xfff -j RETURN',
    '-o lo -j RETURN',
    '-p tcp -m tcp --dport 5432 -j RETURN',
    '-p tcp -j REDIRECT --to-ports 15123',
  ]);
  assert.deepEqual(lines('ipv4', 'ROSSOCTL_DELIVERY'), [
    '-o lo -p tcp -m owner --uid-owner 1337 -j MARK --set-xmark 0x539/0xfff',
  ]);
});

test('arrival: nothing dials the proxy’s ports, nothing but TCP comes from outside unasked', () => {
  assert.deepEqual(lines('ipv6', 'ROSSOCTL_ARRIVAL'), [
    '-m conntrack --ctstate RELATED,ESTABLISHED -j RETURN',
    '-p tcp -m tcp --dport 15123 -m conntrack ! --ctstate DNAT -j REJECT --reject-with tcp-reset',
    '-p tcp -m tcp --dport 15124 -m conntrack ! --ctstate DNAT -j REJECT --reject-with tcp-reset',
    '-i lo -j RETURN',
    '-p udp -m udp --dport 9000 -j RETURN',
    '-p tcp -m tcp --dport 15125 -j RETURN',
    '-p tcp -m tcp --dport 9000 -j RETURN',
    '-p tcp -m tcp --dport 15008 -j RETURN',
    '-p tcp -m tcp --tcp-flags FIN,SYN,RST,ACK SYN -m conntrack ! --ctstate DNAT -j REJECT --reject-with tcp-reset',
    '-p udp -j REJECT --reject-with icmp6-port-unreachable',
    '-p sctp -j REJECT --reject-with icmp6-port-unreachable',
  ]);
});

test('both families have the same rules but for the name of the ICMP answer', () => {
  const [ipv4, ipv6] = families.map((family) => captureRules(settings, family).map(line));
  assert.deepEqual(
    ipv6?.map((each) => each.replace('icmp6-', 'icmp-')),
    ipv4,
  );
});

test('a health port that is excluded as well is named once', () => {
  const excluded = captureSettings({ ...environment, INBOUND_PORTS_EXCLUDE: '15125' });
  const named = captureRules(excluded, 'ipv4').filter(
    ({ chain, match }) => chain.name === 'ROSSOCTL_INBOUND' && match.includes('15125'),
  );
  assert.equal(named.length, 1);
});

test('every rule says what it is for and belongs to a chain with a jump', () => {
  for (const { why, chain } of captureRules(settings, 'ipv4')) {
    assert.ok(why.length > 5);
    assert.ok(chains.includes(chain));
  }
  assert.deepEqual(chains.map(jump), [
    '-A PREROUTING -p tcp -j ROSSOCTL_INBOUND',
    '-A OUTPUT -p tcp -j ROSSOCTL_OUTBOUND',
    '-A OUTPUT -p tcp -j ROSSOCTL_DELIVERY',
    '-A INPUT -j ROSSOCTL_ARRIVAL',
  ]);
});
