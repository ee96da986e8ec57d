/** SPIFFE IDs: the strict grammar, and who is bound. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bindingOf } from '../../../runtime/signature/binding.ts';
import { isTrustDomain, parseSpiffeId } from '../../../runtime/signature/spiffe-id.ts';

const good = [
  'spiffe://example.org/a',
  'spiffe://example.org/ns/team1/sa/weather-agent',
  'spiffe://a_b.c-d.1/A/..b/c..d/...',
  `spiffe://${'a'.repeat(255)}/b`,
  `spiffe://e/${'a'.repeat(2048 - 11)}`,
];
for (const id of good) {
  test(`a SPIFFE ID: ${id.slice(0, 60)}`, () => {
    const parsed = parseSpiffeId(id);
    assert.equal(parsed?.text, id);
    assert.equal(parsed.trustDomain, id.split('/')[2]);
  });
}

const bad = [
  '',
  'spiffe://',
  'spiffe:///a',
  'spiffe://example.org',
  'spiffe://example.org/',
  'spiffe://example.org/a/',
  'spiffe://example.org//a',
  'spiffe://example.org/./a',
  'spiffe://example.org/a/..',
  'spiffe://example.org/a?b',
  'spiffe://example.org/a#b',
  'spiffe://example.org/a%62',
  'spiffe://example.org/a b',
  'spiffe://example.org/a\n',
  '\nspiffe://example.org/a',
  'spiffe://example.org/a\u0000',
  'spiffe://example.org\\a',
  'spiffe://Example.org/a',
  'SPIFFE://example.org/a',
  'spiffe://user@example.org/a',
  'spiffe://example.org:80/a',
  'spiffe://exämple.org/a',
  'spiffe://example.org/ä',
  'https://example.org/a',
  'spiffe:/example.org/a',
  `spiffe://${'a'.repeat(256)}/b`,
  `spiffe://e/${'a'.repeat(2048 - 10)}`,
];
for (const id of bad) {
  test(`no SPIFFE ID: ${JSON.stringify(id.slice(0, 60))}`, () => assert.equal(parseSpiffeId(id), undefined));
}

test('trust domains are host names in lower case', () => {
  assert.deepEqual(['example.org', 'a_b', '.'].map(isTrustDomain), [true, true, true]);
  assert.deepEqual(['', 'A', 'spiffe://a', 'a/b', 'a\n', 'a'.repeat(256)].map(isTrustDomain), Array(6).fill(false));
});

test('the trust domain is compared as a whole, the workload by its very ID', () => {
  const id = { text: 'spiffe://example.org/ns/team1/sa/weather', trustDomain: 'example.org' };
  const reason = (trustDomain: string, namespace?: string, serviceAccount = 'weather') =>
    bindingOf(id, { trustDomain, ...(namespace === undefined ? {} : { workload: { namespace, serviceAccount } }) })
      .reason;
  assert.equal(reason('example.org'), 'Bound');
  for (const other of ['', 'example', 'example.org.', 'EXAMPLE.ORG', 'org', 'xexample.org']) {
    assert.equal(reason(other), 'TrustDomainMismatch');
  }
  assert.equal(reason('example.org', 'team1'), 'Bound');
  assert.equal(reason('example.org', 'team2'), 'WorkloadMismatch');
  assert.equal(reason('example.org', 'team1', 'other'), 'WorkloadMismatch');
  assert.equal(reason('example.org', 'team1/sa', ''), 'WorkloadMismatch');
  assert.equal(reason('other.test', 'team1'), 'TrustDomainMismatch');
  const { message } = bindingOf(id, { trustDomain: '' });
  assert.match(message, /no trust domain is configured/);
});
