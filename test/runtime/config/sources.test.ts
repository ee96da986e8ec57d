/** What a configuration text may say, who may say it, and what leaves no trace. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import type { LayerProblem, LayerSource } from '../../../runtime/config/layers.ts';
import { isProblem, parseConfig, parseGates } from '../../../runtime/config/sources.ts';
import { namespaceSource, platformSource } from './layer-values.ts';

function problem(text: string, source: LayerSource = platformSource): LayerProblem {
  const result = parseConfig(text, source);
  assert.ok(isProblem(result), `accepted: ${text}`);
  return result;
}

function values(text: string, source: LayerSource = platformSource): unknown {
  const result = parseConfig(text, source);
  if (isProblem(result)) assert.fail(result.message);
  return result.values;
}

test('says all that is wrong, three in full, in the order of the text', () => {
  const { message } = problem('a1: 1\nb1: 1\nc1: 1\nd1: 1\n');
  assert.match(message, /line 1: a1: .*; line 2: b1: .*; line 3: c1: .*; and 1 more$/);
});

test('what sets nothing is a layer that sets nothing', () => {
  for (const text of ['', '\n', '# only a comment\n', '---\n', '---\n# x\n...\n', 'null', '{}'])
    assert.deepEqual(values(text), {}, text);
});

test('formatting, comments, quotes, line ends and a byte-order mark change nothing', () => {
  const expected = { identity: { realm: 'team1' }, trace: { sampling: { rate: 0.1 } } };
  for (const text of [
    'identity: {realm: team1}\ntrace: {sampling: {rate: 0.10}}',
    '# why\ntrace:\r\n  sampling:\r\n    rate: 1e-1 # x\r\nidentity:\r\n  realm: "team1"\r\n',
    '\uFEFF{"identity":{"realm":"team1"},"trace":{"sampling":{"rate":0.1}}}',
    'identity: !!str {}\n'.replace('!!str {}', "{realm: !!str 'team1'}") + 'trace: {sampling: {rate: .1}}',
  ]) {
    assert.deepEqual(values(text), expected);
  }
});

test('an alias stands for what it names, as tools that reuse objects write it', () => {
  assert.deepEqual(values('resources:\n  envoyProxy: &a1\n    limits: {cpu: "1"}\n  proxyInit: *a1\n'), {
    resources: { envoyProxy: { limits: { cpu: '1' } }, proxyInit: { limits: { cpu: '1' } } },
  });
});

test('values are frozen throughout', () => {
  const parsed = values('identity: {allowedAudiences: [a]}') as {
    readonly identity: { readonly allowedAudiences: string[] };
  };
  assert.throws(() => parsed.identity.allowedAudiences.push('b'), TypeError);
});

test('credentials in a URL never reach a message', () => {
  assert.doesNotMatch(problem('identity: {url: "ftp://admin:hunter2@host"}').message, /hunter2/);
});

/** What is the platform's alone, path by path. */
const platformsAlone: readonly (readonly [text: string, path: string])[] = [
  ['images: {sidecar: evil}', 'images'],
  ['proxy: {uid: 1338}', 'proxy.uid'],
  ['proxy: {outboundPort: 15123}', 'proxy.outboundPort'],
  ['proxy: {inboundPort: 15124}', 'proxy.inboundPort'],
  ['proxy: {adminPort: 9901}', 'proxy.adminPort'],
  ['proxy: {healthPort: 15125}', 'proxy.healthPort'],
  ['rollout: {paused: true}', 'rollout'],
];

for (const [text, path] of platformsAlone) {
  test(`a namespace cannot set ${path}; the platform can`, () => {
    const found = problem(text, namespaceSource);
    assert.equal(found.path, path);
    assert.match(found.message, /is the platform's alone; a namespace cannot set it/);
    values(text);
  });
}

test('a namespace cannot set gates, in any spelling', () => {
  for (const text of ['featureGates: {globalEnabled: false}', 'globalEnabled: false', 'injectTools: true']) {
    assert.match(problem(text, namespaceSource).message, /feature gates are the platform's alone/);
  }
});

test('gates are parsed as strictly', () => {
  assert.deepEqual(parseGates('injectTools: true\nglobalEnabled: false', platformSource), {
    source: platformSource,
    values: { injectTools: true, globalEnabled: false },
  });
  const sentences: readonly (readonly [string, RegExp])[] = [
    ['globalEnabled: "false"', /globalEnabled: "false" is a string; write false without quotes/],
    ['globalEnabled: 0', /globalEnabled: 0 is a number; must be true or false/],
    ['globalEnabled:', /globalEnabled: has no value/],
    ['globalEnable: false', /did you mean globalEnabled\?/],
    [
      'spiffe: {volume: csi}',
      /spiffe: is no feature gate; it belongs in key config.yaml of ConfigMap rossoctl-platform-config/,
    ],
  ];
  for (const [text, expected] of sentences) {
    const result = parseGates(text, platformSource);
    assert.ok(isProblem(result));
    assert.match(result.message, expected);
  }
});

test('no text makes a parser throw', () => {
  const fragment = fc.constantFrom(
    'spiffe',
    'trustDomain',
    ': ',
    '\n',
    '  ',
    '- ',
    '[',
    ']',
    '{',
    '}',
    '&a ',
    '*a',
    '"',
    "'",
    '!!',
    '|',
    '>',
    '%',
    '---',
    '#',
    '?',
    '\t',
    '\ud800',
    '\0',
    '1',
    '<<',
    '__proto__',
  );
  const text = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.array(fragment, { maxLength: 40 }).map((parts) => parts.join('')),
  );
  fc.assert(
    fc.property(text, (text) => {
      const result = parseConfig(text, namespaceSource);
      assert.equal(
        isProblem(result) ? typeof result.message : typeof result.values,
        isProblem(result) ? 'string' : 'object',
      );
    }),
    { numRuns: 500 },
  );
});
