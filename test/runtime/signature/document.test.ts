/** Cards of every A2A version are read, what is none is refused, and nothing is lost on the way. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readCard } from '../../../runtime/signature/document.ts';
import { bytesOf, jsonOf, textOf } from './vectors.ts';

interface ParseRow {
  readonly file: string;
  readonly ok: boolean | 'either';
  readonly name?: string;
  readonly version?: string;
}

for (const { file, ok, name, version } of jsonOf('parse/parse.json') as readonly ParseRow[]) {
  test(`AC-02: ${file} is ${ok === false ? 'refused' : 'a card'}`, () => {
    const read = readCard(bytesOf(file));
    if (ok === false) {
      assert.ok('refused' in read);
      return;
    }
    assert.ok('card' in read);
    if (name !== undefined) assert.equal(read.card['name'], name);
    if (version !== undefined) assert.equal(read.card['version'], version);
    const served = JSON.parse(textOf(file).replace(/^\ufeff/, '')) as Record<string, unknown>;
    assert.deepEqual(read.card, 'agentCard' in served ? served['agentCard'] : served);
  });
}

const refused: readonly (readonly [because: string, body: string | Uint8Array, refused: string, reason: string])[] = [
  ['nothing', '', 'not-json', 'malformed-json'],
  ['a web page', '<!doctype html><title>Agent</title>', 'not-json', 'malformed-json'],
  ['not UTF-8', Buffer.from([0x7b, 0x22, 0xe9, 0x22, 0x3a, 0x31, 0x7d]), 'not-json', 'malformed-json'],
  ['two documents', '{}{}', 'not-json', 'malformed-json'],
  ['null', 'null', 'not-a-card', 'malformed-json'],
  ['a list', '[{}]', 'not-a-card', 'malformed-json'],
  ['a text', '"card"', 'not-a-card', 'malformed-json'],
  ['a member twice', '{"name":"a","name":"b"}', 'not-a-card', 'duplicate-member'],
  ['a lone surrogate', '{"name":"\\ud800"}', 'not-a-card', 'malformed-json'],
  ['a number beyond a double', '{"n":1e400}', 'not-a-card', 'malformed-json'],
  ['65 levels', `${'{"a":'.repeat(65)}1${'}'.repeat(65)}`, 'not-a-card', 'limit-exceeded'],
  ['more than 1 MiB', `{"a":"${'x'.repeat(1024 * 1024)}"}`, 'not-a-card', 'limit-exceeded'],
];

for (const [because, body, kind, reason] of refused) {
  test(`no card: ${because}`, () => {
    const read = readCard(Buffer.from(body as string));
    assert.ok('refused' in read);
    assert.equal(read.refused, kind);
    assert.equal(read.reason, reason);
    assert.match(read.detail, /^\P{Cc}{10,1000}$/u);
  });
}

test('64 levels are a card, and so is what begins with a byte order mark', () => {
  assert.ok('card' in readCard(Buffer.from(`${'{"a":'.repeat(64)}1${'}'.repeat(64)}`)));
  assert.ok('card' in readCard(Buffer.from('\ufeff{"name":"a"}')));
  assert.ok('refused' in readCard(Buffer.from('\ufeff\ufeff{"name":"a"}')));
});

test('the envelope of sigstore is taken off; a card with a member agentCard is not one', () => {
  const inner = { name: 'inner' };
  const cardOf = (value: object) => {
    const read = readCard(Buffer.from(JSON.stringify(value)));
    assert.ok('card' in read);
    return read.card;
  };
  assert.deepEqual(cardOf({ agentCard: inner, attestations: {} }), inner);
  assert.deepEqual(cardOf({ agentCard: inner, verificationMaterial: null }), inner);
  const decoy = { name: 'outer', url: 'http://elsewhere/', agentCard: inner, attestations: [] };
  assert.deepEqual(cardOf(decoy), decoy, 'who knows no envelope would read the outer one, which nobody signed');
  for (const plain of [{ agentCard: inner }, { agentCard: [inner], attestations: {} }, { attestations: {} }]) {
    assert.deepEqual(cardOf(plain), plain);
  }
});

test('a member __proto__ is a member like any other', () => {
  const read = readCard(Buffer.from('{"__proto__":{"name":"x"},"version":"1"}'));
  assert.ok('card' in read);
  assert.deepEqual(Object.keys(read.card), ['__proto__', 'version']);
  assert.equal(read.card['name'], undefined);
});
