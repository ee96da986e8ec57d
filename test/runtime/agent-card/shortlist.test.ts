/** Which of many pods may be asked, and who of them within the first attempt. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { shortlist } from '../../../runtime/agent-card/shortlist.ts';
import { endpoint } from './contacts-bed.ts';

/** `3 of b`: b0, b1, b2, of revision b. */
const of = (text: string) =>
  text.split(', ').flatMap((part) => {
    const [count = '', revision = ''] = part.split(' of ');
    return Array.from({ length: Number(count) }, (_, i) => ({ ...endpoint(`${revision}${i}`), revision }));
  });

const rows: readonly (readonly [what: string, pods: string, asked: string])[] = [
  ['few: all, an older one third', '3 of b, 2 of a', 'b0 b1 a0 b2 a1'],
  ['one revision: in their order, eight at most', '12 of a', 'a0 a1 a2 a3 a4 a5 a6 a7'],
  ['nine new ones push out none of the old revision', '9 of b, 4 of a', 'b0 b1 a0 b2 b3 b4 b5 b6'],
  ['each of three', '9 of c, 9 of b, 9 of a', 'c0 c1 b0 a0 c2 c3 c4 c5'],
  [
    'the newest ones of more than fit',
    '1 of i, 1 of h, 1 of g, 1 of f, 1 of e, 1 of d, 1 of c, 1 of b, 1 of a',
    'i0 h0 g0 f0 e0 d0 c0 b0',
  ],
  ['a single one', '1 of a', 'a0'],
  ['none', '0 of a', ''],
];
for (const [what, pods, asked] of rows)
  test(`asked are ${what}`, () => {
    assert.equal(
      shortlist(of(pods))
        .map(({ pod }) => pod)
        .join(' '),
      asked,
    );
  });
