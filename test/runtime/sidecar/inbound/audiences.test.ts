/** The setting of audiences. */

import assert from 'node:assert/strict';
import test from 'node:test';
import { readAudiences } from '../../../../runtime/sidecar/inbound/audiences.ts';

const name = 'ALLOWED_AUDIENCES';

test('a list of texts, and nothing else', () => {
  assert.deepEqual(readAudiences(name, undefined), { value: [] });
  assert.deepEqual(readAudiences(name, ' '), { value: [] });
  assert.deepEqual(readAudiences(name, '["a","spiffe://b/c"]'), { value: ['a', 'spiffe://b/c'] });
  for (const [text, expected] of [
    ['a,b', /^ALLOWED_AUDIENCES: no JSON/],
    ['"a"', /^ALLOWED_AUDIENCES: /],
    ['["a",7]', /^ALLOWED_AUDIENCES\[1\]: 7 is a number; write it in quotes/],
    ['[""]', /^ALLOWED_AUDIENCES\[0\]: /],
  ] as const) {
    const read = readAudiences(name, text);
    assert.match('problem' in read ? read.problem : 'taken', expected);
  }
});
