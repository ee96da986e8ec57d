/** The agent in brief, from cards of every version and from what only looks like one; AC-02. */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { agentSummary } from '../../../runtime/api/a2a-card.ts';
import { AgentSummary } from '../../../runtime/api/agent-card.ts';
import { readCard } from '../../../runtime/signature/document.ts';

const vectors = path.resolve(import.meta.dirname, '../../vectors');

interface ParseVector {
  readonly file: string;
  readonly ok: boolean | 'either';
  readonly name?: string;
  readonly url?: string;
  readonly version?: string;
}

const parseVectors = JSON.parse(readFileSync(path.join(vectors, 'parse/parse.json'), 'utf8')) as ParseVector[];

for (const { file, ok, name, url, version } of parseVectors)
  test(`AC-02: ${file} is read`, () => {
    const read = readCard(readFileSync(path.join(vectors, file)));
    assert.equal('card' in read, ok !== false);
    if (!('card' in read)) return;
    const summary = agentSummary(read.card);
    if (name !== undefined) assert.equal(summary.name, name);
    if (url !== undefined) assert.equal(summary.url, url);
    if (version !== undefined) assert.equal(summary.version, version);
  });

const both = { url: 'http://old', preferredTransport: 'GRPC', protocolVersion: '0.3.0' };
const v1 = { url: 'https://new', protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' };

const rows: readonly (readonly [what: string, card: object, summary: AgentSummary])[] = [
  ['AC-02: 0.1: url alone speaks JSONRPC', { url: 'http://a' }, { url: 'http://a', transport: 'JSONRPC' }],
  [
    'AC-02: 0.3',
    { name: 'n', version: '1', ...both },
    { name: 'n', version: '1', url: 'http://old', transport: 'GRPC', protocolVersion: '0.3.0' },
  ],
  [
    'AC-02: 0.3 in proto form',
    { url: 'http://a', preferred_transport: 'GRPC', protocol_version: '0.3.0' },
    { url: 'http://a', transport: 'GRPC', protocolVersion: '0.3.0' },
  ],
  [
    'AC-02: 1.0: the first interface',
    { supportedInterfaces: [v1, { ...v1, url: 'https://second' }] },
    { url: 'https://new', transport: 'HTTP+JSON', protocolVersion: '1.0' },
  ],
  [
    'AC-02: 1.0 in proto form',
    { supported_interfaces: [{ url: 'https://s', protocol_binding: 'JSONRPC', protocol_version: '1.0' }] },
    { url: 'https://s', transport: 'JSONRPC', protocolVersion: '1.0' },
  ],
  [
    'AC-02: a card with both that disagree: the first interface wins',
    { ...both, supportedInterfaces: [v1] },
    { url: 'https://new', transport: 'HTTP+JSON', protocolVersion: '1.0' },
  ],
  [
    'AC-02: an interface without a protocol version',
    { supportedInterfaces: [{ url: 'https://new', protocolBinding: 'JSONRPC' }] },
    { url: 'https://new', transport: 'JSONRPC' },
  ],
  [
    'AC-02: a draft of 1.0 with its list of versions',
    { protocolVersions: ['1.0', '0.3.0'], supportedInterfaces: [{ url: 'https://new' }] },
    { url: 'https://new', protocolVersion: '1.0' },
  ],
  [
    'an empty list of interfaces is none',
    { ...both, supportedInterfaces: [] },
    { url: 'http://old', transport: 'GRPC', protocolVersion: '0.3.0' },
  ],
  [
    'interfaces that are none are passed over',
    { supportedInterfaces: [null, 'x', [], {}, { url: 5 }, { url: '' }, { url: 'host:443', protocolBinding: 'GRPC' }] },
    { url: 'host:443', transport: 'GRPC' },
  ],
  [
    'without url the additional interfaces count',
    { additionalInterfaces: [{ transport: 'JSONRPC' }, { url: 'wss://x', transport: 'urn:ws' }] },
    { url: 'wss://x', transport: 'urn:ws' },
  ],
  ['names are case-sensitive', { NAME: 'x', Url: 'y' }, {}],
  [
    'mistyped members are left out',
    { name: 5, url: null, version: {}, supportedInterfaces: 'x', additionalInterfaces: {}, protocolVersion: [] },
    {},
  ],
  ['nothing is taken from prototypes', Object.create({ name: 'x', url: 'y' }), {}],
  ['a list', [], {}],
  [
    'text is shown without escapes, directions and line ends',
    { name: '\u001b[31mred\u001b[0m\n\u202eevil\u2066 a\u0000b\u{e0041}', version: '\u0007\u200b' },
    { name: 'red evil a b' },
  ],
];

for (const [what, card, summary] of rows)
  test(what, () => {
    assert.deepEqual(agentSummary(card), summary);
  });

test('a text is cut to what the schema allows, in characters and not in halves of them', () => {
  const long = '👩'.repeat(3_000);
  const card = { name: long, version: long, url: long, preferredTransport: long, protocolVersion: long };
  const summary = agentSummary(card);
  const { path: _, ...limited } = AgentSummary.properties;
  for (const [name, schema] of Object.entries(limited)) {
    const text = summary[name as keyof AgentSummary] ?? '';
    assert.equal(Array.from(text).length, (schema as { readonly maxLength?: number }).maxLength, name);
    assert.ok(text.isWellFormed() && text.endsWith('👩…'), name);
  }
});

test('whatever a card holds, its summary is of short texts', () => {
  const keys = [
    'name',
    'url',
    'version',
    'supportedInterfaces',
    'supported_interfaces',
    'protocolVersions',
    '__proto__',
  ];
  const member = fc.oneof(fc.constantFrom(...keys), fc.string());
  fc.assert(
    fc.property(fc.dictionary(member, fc.jsonValue(), { noNullPrototype: false }), (card) => {
      for (const text of Object.values(agentSummary(card)))
        assert.ok(typeof text === 'string' && text !== '' && Array.from(text).length <= 2048);
    }),
  );
});
