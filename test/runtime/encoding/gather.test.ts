/** Bodies are read whole or not at all: bounded in bytes and in pieces. */

import assert from 'node:assert/strict';
import test from 'node:test';
import * as fc from 'fast-check';
import { type BodyExceeds, gather } from '../../../runtime/encoding/gather.ts';

async function* pieces(list: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  for (const piece of list) yield await Promise.resolve(piece);
}

test('what came is what is read, in whatever pieces', () =>
  fc.assert(
    fc.asyncProperty(fc.array(fc.uint8Array({ maxLength: 9_000 }), { maxLength: 20 }), async (list) => {
      assert.deepEqual(await gather(pieces(list), { maxBytes: 200_000 }), Buffer.concat(list));
    }),
    { numRuns: 50 },
  ));

const bounds = { maxBytes: 100, maxPieces: 10 };
const rows = [
  ['as many bytes as may be', [100], undefined],
  ['one byte more', [100, 1], 'bytes'],
  ['as many pieces as may be', Array.from({ length: 10 }, () => 1), undefined],
  ['one piece more', Array.from({ length: 11 }, () => 1), 'pieces'],
  ['pieces of nothing', Array.from({ length: 11 }, () => 0), 'pieces'],
] as const;

for (const [what, sizes, excess] of rows) {
  test(`${what}: ${excess ?? 'read'}`, async () => {
    const reading = gather(pieces(sizes.map((size) => new Uint8Array(size))), bounds);
    if (excess === undefined) await reading;
    else await assert.rejects(reading, (error: BodyExceeds) => error.what === excess);
  });
}
