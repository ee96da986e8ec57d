/** Foreign text in conditions, logs and terminals. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { plainText } from '../../../runtime/encoding/plain-text.ts';

const rows: readonly (readonly [what: string, text: string, plain: string])[] = [
  ['ordinary text is as it was', 'Weather Agent – Oslo, 東京', 'Weather Agent – Oslo, 東京'],
  ['line ends and tabs are one space', 'a\r\n\tb\u2028c\u0085d', 'a b c d'],
  ['colours', '\u001b[1;31mred\u001b[0m', 'red'],
  ['a title set by OSC, and what follows', '\u001b]0;title\u0007x', 'x'],
  ['a link by OSC with its other end', '\u001b]8;;http://evil\u001b\\x', 'x'],
  ['an OSC without end', 'a\u001b]0;title', 'a'],
  ['a lone escape', 'a\u001bb\u001b', 'ab'],
  ['direction marks', 'a\u202eb\u2066c\u200fd', 'abcd'],
  ['tags that are not seen', 'a\u{e0041}\u{e0042}', 'a'],
  ['fillers and soft hyphens', 'a\u3164\u00ad\ufeffb', 'ab'],
  ['joiners belong to scripts and emoji', '👩\u200d🔬 می\u200cخواهم', '👩\u200d🔬 می\u200cخواهم'],
  ['half a character', 'a\ud800b', 'a\ufffdb'],
  ['blanks around it', '  a  ', 'a'],
];

for (const [what, text, plain] of rows)
  test(what, () => {
    assert.equal(plainText(text, 100), plain);
  });

test('what is longer is cut by characters and says so', () => {
  assert.equal(plainText('abcdef', 6), 'abcdef');
  assert.equal(plainText('abcdefg', 6), 'abcde…');
  assert.equal(plainText('👩👩👩', 2), '👩…');
  assert.equal(plainText(' '.repeat(10_000_000), 6), '');
});

test('no text breaks a line, a terminal or the limit', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 300 }), fc.integer({ min: 1, max: 100 }), (text, limit) => {
      const plain = plainText(text, limit);
      assert.ok(Array.from(plain).length <= limit && plain.isWellFormed());
      assert.doesNotMatch(plain, /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/u);
    }),
  );
});
