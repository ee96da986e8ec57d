/** The four forms of a payload: their exact bytes, what each leaves out, and that nothing left out is kept. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { canonicalJson } from '../../../runtime/encoding/canonical-json.ts';
import { sha256Hex } from '../../../runtime/encoding/digest.ts';
import type { Json, JsonObject } from '../../../runtime/encoding/strict-json.ts';
import { payloadOf, payloadsOf, type Profile, profiles } from '../../../runtime/signature/payloads.ts';
import { cardHash } from '../../../runtime/signature/verify.ts';
import { bytesOf, cardIn, jsonOf, textOf } from './vectors.ts';

interface CanonicalRow {
  readonly name: string;
  readonly in: string;
  readonly out: Readonly<Record<Profile, { readonly file: string; readonly sha256: string }>>;
}

for (const row of jsonOf('canonical/index.json') as readonly CanonicalRow[]) {
  for (const profile of profiles) {
    test(`SG-02: canonical ${row.name}, ${profile}`, () => {
      const { text } = payloadOf(cardIn(bytesOf(row.in)), profile);
      assert.equal(text, textOf(row.out[profile].file));
      assert.equal(sha256Hex(text), row.out[profile].sha256);
    });
  }
}

test('a form with the bytes of an earlier one is passed over, and jcs alone is one form', () => {
  const plain: JsonObject = { name: 'a', version: '1' };
  assert.deepEqual(
    [...payloadsOf(plain, 'all')].map(({ profile }) => profile),
    ['jcs'],
  );
  const rich: JsonObject = { a: '<', capabilities: { extensions: [{ uri: 'u', required: false }] }, provider: {} };
  assert.deepEqual(
    [...payloadsOf(rich, 'all')].map(({ profile }) => profile),
    ['jcs', 'jcs-spec', 'jcs-clean', 'go-clean'],
  );
  assert.deepEqual(
    [...payloadsOf(rich, 'jcs')].map(({ profile }) => profile),
    ['jcs'],
  );
});

interface Case {
  readonly because: string;
  readonly profile: Profile;
  readonly card: JsonObject;
  readonly text: string;
  readonly unsigned: readonly string[];
}

const cases: readonly Case[] = [
  {
    because: 'only the root’s signatures are left out',
    profile: 'jcs',
    card: { signatures: [1], skills: [{ signatures: [2] }] },
    text: '{"skills":[{"signatures":[2]}]}',
    unsigned: [],
  },
  {
    because: 'empties go, children first; the outermost place is told, zero and false stay',
    profile: 'jcs-clean',
    card: { a: { b: { c: null } }, d: [null, '', {}, [[]]], e: [0, false, '', 'x'], f: '' },
    text: '{"e":[0,false,"x"]}',
    unsigned: ['/a', '/d', '/e/2', '/f'],
  },
  {
    because: 'Go leaves arrays within arrays as they are, and an array left empty goes',
    profile: 'go-clean',
    card: { a: [null, [], {}, ''], b: [[null, {}]], c: [{}], d: -0 },
    text: '{"a":[[]],"b":[[null,{}]],"d":-0}',
    unsigned: ['/a/0', '/a/2', '/a/3', '/c'],
  },
  {
    because: 'Go sorts by bytes and escapes for HTML',
    profile: 'go-clean',
    card: { '\u{1f600}': '<&>', '\ufb33': '\u2028', a: '\b\f' },
    text: '{"a":"\\b\\f","\ufb33":"\\u2028","\u{1f600}":"\\u003c\\u0026\\u003e"}',
    unsigned: [],
  },
  {
    because:
      'A2A 8.4.1: what is neither required nor optional goes when it holds its default; the rest stays, however empty',
    profile: 'jcs-spec',
    card: {
      description: '',
      iconUrl: '',
      skills: [{ id: '', tags: [], examples: [], inputModes: ['text/plain'], securityRequirements: [] }],
      supportedInterfaces: [{ url: '', tenant: '', protocolVersion: '1.0' }],
      capabilities: { streaming: false, extensions: [{ uri: '', description: 'd', required: false, params: {} }] },
      securitySchemes: { 'a/b': { mtlsSecurityScheme: { description: '' } } },
      securityRequirements: [{ schemes: { 'a/b': { list: [] } } }],
      provider: {},
      security: [],
    },
    text:
      '{"capabilities":{"extensions":[{"description":"d","params":{}}],"streaming":false},"description":"","iconUrl":"","provider":{},' +
      '"security":[],"securityRequirements":[{"schemes":{"a/b":{}}}],"securitySchemes":{"a/b":{"mtlsSecurityScheme":{}}},' +
      '"skills":[{"id":"","inputModes":["text/plain"],"tags":[]}],"supportedInterfaces":[{"protocolVersion":"1.0","url":""}]}',
    unsigned: [
      '/skills/0/examples',
      '/skills/0/securityRequirements',
      '/supportedInterfaces/0/tenant',
      '/capabilities/extensions/0/uri',
      '/capabilities/extensions/0/required',
      '/securitySchemes/a~1b/mtlsSecurityScheme/description',
      '/securityRequirements/0/schemes/a~1b/list',
    ],
  },
  {
    because: 'the flows of OAuth have defaults too; a parameter of an extension has none',
    profile: 'jcs-spec',
    card: {
      capabilities: { extensions: [{ uri: 'u', params: { required: false, list: [] } }] },
      securitySchemes: {
        o: {
          oauth2SecurityScheme: { flows: { authorizationCode: { scopes: {}, refreshUrl: '', pkceRequired: false } } },
        },
        p: { oauth2SecurityScheme: { flows: { password: { scopes: {}, tokenUrl: '' } }, oauth2MetadataUrl: '' } },
      },
    },
    text:
      '{"capabilities":{"extensions":[{"params":{"list":[],"required":false},"uri":"u"}]},"securitySchemes":' +
      '{"o":{"oauth2SecurityScheme":{"flows":{"authorizationCode":{"scopes":{}}}}},"p":{"oauth2SecurityScheme":{"flows":{"password":{}}}}}}',
    unsigned: [
      '/securitySchemes/o/oauth2SecurityScheme/flows/authorizationCode/refreshUrl',
      '/securitySchemes/o/oauth2SecurityScheme/flows/authorizationCode/pkceRequired',
      '/securitySchemes/p/oauth2SecurityScheme/flows/password/scopes',
      '/securitySchemes/p/oauth2SecurityScheme/flows/password/tokenUrl',
      '/securitySchemes/p/oauth2SecurityScheme/oauth2MetadataUrl',
    ],
  },
  {
    because: 'members of the wrong type are left as they are',
    profile: 'jcs-spec',
    card: { capabilities: [], skills: 'x', securitySchemes: [{}], provider: 5, supportedInterfaces: [7, null] },
    text: '{"capabilities":[],"provider":5,"securitySchemes":[{}],"skills":"x","supportedInterfaces":[7,null]}',
    unsigned: [],
  },
];

for (const { because, profile, card, text, unsigned } of cases) {
  test(`${profile}: ${because}`, () => {
    const payload = payloadOf(card, profile);
    assert.equal(payload.text, text);
    assert.deepEqual(payload.unsigned, unsigned);
  });
}

test('what is left out is told in at most 64 pointers of at most 1,024 characters, however much it is', () => {
  const many: JsonObject = { list: Array.from({ length: 100_000 }, () => null), end: 1 };
  assert.equal(payloadOf(many, 'jcs-clean').unsigned.length, 1);
  const kept: JsonObject = { list: [...Array.from({ length: 100_000 }, () => null), 1] };
  assert.equal(payloadOf(kept, 'jcs-clean').unsigned.length, 64);
  const [pointer = ''] = payloadOf({ ['/'.repeat(500_000)]: '' }, 'jcs-clean').unsigned;
  assert.equal(pointer.length, 1024);
});

const json = fc.jsonValue({ depthSize: 'medium', stringUnit: 'binary' }) as fc.Arbitrary<Json>;
const cards = fc.dictionary(fc.string({ unit: 'binary' }), json) as fc.Arbitrary<JsonObject>;

test('the text of every form means its tree, and its tree is a fixed point', () => {
  fc.assert(
    fc.property(cards, fc.constantFrom(...profiles), (card, profile) => {
      const { text, tree } = payloadOf(card, profile);
      // As canonical text, which knows one zero.
      assert.equal(canonicalJson(JSON.parse(text)), canonicalJson(tree));
      const again = payloadOf(tree, profile);
      assert.equal(again.text, text);
      assert.deepEqual(again.unsigned, []);
    }),
  );
});

test('the hash of a card knows neither order nor signatures', () => {
  const card: JsonObject = { a: 1, b: { c: [2] }, signatures: ['x'] };
  assert.equal(cardHash(card), cardHash({ b: { c: [2] }, a: 1 }));
  assert.equal(cardHash(card), sha256Hex('{"a":1,"b":{"c":[2]}}'));
  assert.notEqual(cardHash(card), cardHash({ a: 1, b: { c: [3] } }));
});
