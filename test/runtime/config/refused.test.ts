/** What a configuration text must not say: each text breaks one rule and is answered with path, line and remedy. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LayerProblem } from '../../../runtime/config/layers.ts';
import { isProblem, parseConfig } from '../../../runtime/config/sources.ts';
import { platformSource } from './layer-values.ts';

function problem(text: string): LayerProblem {
  const result = parseConfig(text, platformSource);
  assert.ok(isProblem(result), `accepted: ${text}`);
  return result;
}

/** Each text breaks one rule: path, line, and a part of the sentence. */
const refused: readonly (readonly [
  rule: string,
  text: string,
  path: string | undefined,
  line: number,
  part: string,
])[] = [
  [
    'a mistyped key',
    'mtls:\n  mode: strict\nspiffe:\n  trustDomian: x',
    'spiffe.trustDomian',
    4,
    'unknown key; did you mean trustDomain?',
  ],
  ['a mistyped section', 'spifee: {}', 'spifee', 1, 'did you mean spiffe?'],
  ['a leaf without its section', 'trustDomain: x', 'trustDomain', 1, 'did you mean spiffe.trustDomain?'],
  [
    'a section below another, where it belongs beside it',
    'spiffe:\n  mtls: {mode: strict}',
    'spiffe.mtls',
    2,
    'unknown key; it belongs beside spiffe, not below it',
  ],
  [
    'a leaf of another section',
    'mtls: {trustDomain: x}',
    'mtls.trustDomain',
    1,
    'unknown key; did you mean spiffe.trustDomain?',
  ],
  [
    'a merge key',
    'mtls: &n {mode: strict}\nspiffe:\n  <<: *n',
    'spiffe.<<',
    3,
    'merge keys are not supported: write the keys out',
  ],
  ['a merge key in quotes', 'spiffe: {"<<": x}', 'spiffe.<<', 1, 'unknown key'],
  ['a key nobody knows', 'nothingLikeIt: 1', 'nothingLikeIt', 1, 'unknown key; allowed are images, proxy'],
  [
    'a boolean in quotes',
    'rollout:\n  paused: "false"',
    'rollout.paused',
    2,
    '"false" is a string; write false without quotes',
  ],
  ['YAML 1.1 booleans', 'rollout: {paused: yes}', 'rollout.paused', 1, '"yes" is a string; must be true or false'],
  ['YAML 1.1 by directive', '%YAML 1.1\n---\nrollout: {paused: yes}', 'rollout.paused', 3, 'must be true or false'],
  ['a number in quotes', 'proxy: {uid: "1337"}', 'proxy.uid', 1, 'write 1337 without quotes'],
  [
    'a number where text belongs',
    'resources: {envoyProxy: {limits: {cpu: 1}}}',
    'resources.envoyProxy.limits.cpu',
    1,
    'write it in quotes: "1"',
  ],
  [
    'a quantity Kubernetes refuses',
    'resources: {envoyProxy: {limits: {cpu: lots}}}',
    'resources.envoyProxy.limits.cpu',
    1,
    'quantity',
  ],
  [
    'a privileged port',
    'proxy: {adminPort: 80}',
    'proxy.adminPort',
    1,
    '80 is not allowed; must be a whole number from 1024 to 65535',
  ],
  ['root as uid', 'proxy: {uid: 0}', 'proxy.uid', 1, 'from 1 to 2147483647'],
  ['a share above one', 'trace: {sampling: {rate: 1.5}}', 'trace.sampling.rate', 1, 'a number from 0 to 1'],
  ['a value outside the enumeration', 'mtls: {mode: on}', 'mtls.mode', 1, 'one of disabled, permissive, strict'],
  ['a scalar for a section', 'mtls: strict', 'mtls', 1, 'must be a section with mode'],
  ['a list for a section', 'mtls: [strict]', 'mtls', 1, 'is a list; must be a section'],
  ['a section for a scalar', 'identity: {realm: {a: b}}', 'identity.realm', 1, 'is a section; must be text'],
  ['a scalar for a list', 'identity: {allowedAudiences: api}', 'identity.allowedAudiences', 1, 'must be a list'],
  [
    'a bad list entry',
    'identity:\n  allowedAudiences:\n  - a\n  - 3',
    'identity.allowedAudiences[1]',
    4,
    '3 is a number',
  ],
  ['a key without a value', 'identity:\n  realm:', 'identity.realm', 2, 'has no value; write one or remove the key'],
  ['a section without a value', 'identity:\nmtls: {mode: strict}', 'identity', 1, 'has no value'],
  ['null in so many words', 'identity: {realm: null}', 'identity.realm', 1, 'has no value'],
  ['a key twice', 'mtls: {mode: strict}\n\nmtls: {mode: strict}', 'mtls', 3, 'is set twice, first in line 1'],
  ['two documents', 'mtls: {mode: strict}\n---\nmtls: {mode: strict}', undefined, 2, 'more than one YAML document'],
  ['a list as document', '- mtls', undefined, 1, 'the document must be a section with images'],
  ['text as document', 'mtls', undefined, 1, 'the document must be a section'],
  ['an open bracket', 'mtls: {mode: strict', undefined, 1, 'Flow map'],
  ['a tab', '\tmtls: {mode: strict}', undefined, 1, 'Tabs are not allowed'],
  ['a foreign tag', 'identity: {realm: !secret x}', undefined, 1, 'tag'],
  ['a binary tag', 'identity: {realm: !!binary aGk=}', 'identity.realm', 1, 'binary is not accepted'],
  ['an alias of nothing', 'identity: {realm: *x}', 'identity.realm', 1, 'alias'],
  ['a prototype key', 'identity: {__proto__: {realm: x}}', 'identity', 1, '__proto__ cannot be a key'],
  ['a quoted prototype key', '"__proto__": {realm: x}', undefined, 1, '__proto__ cannot be a key'],
  [
    'a prototype key in a free-form map',
    'networkPolicy: {ingressFrom: [{__proto__: {a: b}}]}',
    'networkPolicy.ingressFrom[0]',
    1,
    '__proto__',
  ],
  ['a key that is no text', '1: x', undefined, 1, '1 cannot be a key'],
  [
    'infinity',
    'networkPolicy: {egressTo: [{a: .inf}]}',
    'networkPolicy.egressTo[0].a',
    1,
    'not a number JSON can hold',
  ],
  ['a lone surrogate', 'identity: {realm: "\\ud800"}', 'identity.realm', 1, 'lone surrogate'],
  [
    'a gate among the configuration',
    'globalEnabled: false',
    'globalEnabled',
    1,
    'belong in key feature-gates.yaml of ConfigMap rossoctl-feature-gates',
  ],
];

for (const [rule, text, path, line, part] of refused) {
  test(`refuses ${rule}`, () => {
    const found = problem(text);
    assert.deepEqual({ kind: found.kind, path: found.path, line: found.line }, { kind: 'invalid', path, line });
    assert.ok(
      found.message.startsWith(`${platformSource.where}: line ${line}: ${path === undefined ? '' : `${path}: `}`),
      found.message,
    );
    assert.ok(found.message.includes(part), found.message);
  });
}

/** Bounds: what an attacker or a broken generator could send. */
const deep = Array.from({ length: 40 }, (_, i) => `${' '.repeat(i)}a:`).join('\n');
const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];
const bomb = names
  .map(
    (name, i) =>
      `${name}: &${name} [${Array(9)
        .fill(i === 0 ? 'x' : `*${names[i - 1]}`)
        .join(', ')}]`,
  )
  .join('\n');
const outOfBounds: readonly (readonly [what: string, text: string, part: RegExp])[] = [
  ['more than 256 KiB', `# ${'x'.repeat(256 * 1024)}`, /larger than 256 KiB/],
  ['deep block nesting', deep, /nested more than 32 levels deep/],
  ['deep flow nesting', '['.repeat(100_000), /nested more than 32 levels deep/],
  ['deep compact nesting', '- '.repeat(100_000), /nested more than 32 levels deep/],
  ['deep complex keys', '? '.repeat(100_000), /nested more than 32 levels deep/],
  ['nesting hidden behind anchors', '? &a '.repeat(3000), /nested more than 32 levels deep/],
  ['a text that is all grammar', '- &a '.repeat(50_000), /more than 5000 values/],
  ['an alias bomb', bomb, /more than 5000 values, aliases included/],
  [
    'an alias of itself',
    'networkPolicy: {ingressFrom: [&a {x: *a, y: *a}]}',
    /nested more than 32 levels|more than 5000 values/,
  ],
  ['an endless list', `identity: {allowedAudiences: [${'a,'.repeat(20_000)}]}`, /more than 5000 values/],
  [
    'more entries than the schema allows',
    `identity: {allowedAudiences: [${'a,'.repeat(65)}]}`,
    /has 65 entries; at most 64 are allowed/,
  ],
];

for (const [what, text, part] of outOfBounds) {
  test(`refuses ${what}, quickly and with a short sentence`, () => {
    const before = process.cpuUsage();
    const { message } = problem(text);
    assert.match(message, part);
    assert.ok(message.length < 1000, `${message.length} characters`);
    assert.ok(process.cpuUsage(before).user < 2_000_000, 'two seconds of processor time');
  });
}
