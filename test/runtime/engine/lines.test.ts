import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { createLineParser } from '../../../runtime/engine/lines.ts';

test('property: values arrive whole and in order however the bytes are cut', () => {
  fc.assert(
    fc.property(
      fc.array(fc.jsonValue()),
      fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 }),
      (values, cuts) => {
        const bytes = Buffer.from(values.map((value) => `${JSON.stringify(value)}\n`).join(''));
        const seen: unknown[] = [];
        const parse = createLineParser((value) => seen.push(value));
        for (let at = 0, i = 0; at < bytes.length; i += 1) {
          const next = at + (cuts[i % cuts.length] ?? 1);
          parse(bytes.subarray(at, next));
          at = next;
        }
        assert.deepEqual(seen, JSON.parse(JSON.stringify(values)));
      },
    ),
  );
});

test('empty lines are nothing, a line that is no JSON throws, and so does one without an end', () => {
  const seen: unknown[] = [];
  const parse = createLineParser((value) => seen.push(value));
  parse(Buffer.from('\n\n1\n'));
  assert.deepEqual(seen, [1]);
  assert.throws(() => parse(Buffer.from('{"a":\n')), { code: 'WATCH_MALFORMED' });
  const endless = createLineParser(() => {});
  const chunk = Buffer.alloc(1024 * 1024, 'x');
  assert.throws(
    () => {
      for (let i = 0; i < 20; i += 1) endless(chunk);
    },
    { code: 'WATCH_MALFORMED' },
  );
});
