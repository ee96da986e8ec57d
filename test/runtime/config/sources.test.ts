/** What a configuration text may say, and the sentence that answers what it may not. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { AgentRuntime } from '../../../runtime/api/agent-runtime.ts';
import type { LayerProblem, LayerSource } from '../../../runtime/config/layers.ts';
import { agentRuntimeLayer, isProblem, parseConfig, parseGates } from '../../../runtime/config/sources.ts';
import { namespaceSource, platformSource, runtime } from './layer-values.ts';

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
const bomb = `a: &a [${'x,'.repeat(9)}x]\n${[...'bcdefghij'].map((name, i) => `${name}: &${name} [${`*${'abcdefghij'[i]},`.repeat(9)}]`).join('\n')}`;
const outOfBounds: readonly (readonly [what: string, text: string, part: RegExp])[] = [
  ['more than 256 KiB', `# ${'x'.repeat(256 * 1024)}`, /larger than 256 KiB/],
  ['deep block nesting', deep, /nested more than 32 levels deep/],
  ['deep flow nesting', '['.repeat(100_000), /nested more than 32 levels deep/],
  ['deep compact nesting', '- '.repeat(100_000), /nested more than 32 levels deep/],
  ['deep complex keys', '? '.repeat(100_000), /nested more than 32 levels deep/],
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
    const start = performance.now();
    const { message } = problem(text);
    assert.match(message, part);
    assert.ok(message.length < 1000, `${message.length} characters`);
    assert.ok(performance.now() - start < 2000);
  });
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

test('an AgentRuntime sets the configuration its fields stand for, and nothing else', () => {
  const spec: Partial<AgentRuntime['spec']> = {
    authBridgeMode: 'proxy-sidecar',
    mtlsMode: 'strict',
    skills: ['forecast'],
    identity: {
      spiffe: { trustDomain: 'prod.example' },
      allowedAudiences: ['api'],
      clientRegistration: {
        provider: 'keycloak',
        keycloak: { url: 'https://sso.example', realm: 'team1', adminCredentialsSecret: 'admin' },
      },
    },
    trace: { endpoint: 'otel:4317', protocol: 'http', sampling: { type: 'always', rate: 1 } },
  };
  assert.deepEqual(agentRuntimeLayer(runtime(spec)), {
    source: { layer: 'agent-runtime', where: 'AgentRuntime team1/weather' },
    values: {
      authBridge: { mode: 'proxy-sidecar' },
      mtls: { mode: 'strict' },
      spiffe: { trustDomain: 'prod.example' },
      identity: {
        allowedAudiences: ['api'],
        provider: 'keycloak',
        url: 'https://sso.example',
        realm: 'team1',
        adminCredentialsSecret: 'admin',
      },
      trace: { endpoint: 'otel:4317', protocol: 'http', sampling: { type: 'always', rate: 1 } },
    },
  });
  assert.deepEqual(agentRuntimeLayer(runtime()), {
    source: { layer: 'agent-runtime', where: 'AgentRuntime team1/weather' },
    values: {},
  });
});

test('an AgentRuntime that bypassed its schema yields a problem in its own terms', () => {
  const cases: readonly (readonly [spec: object, path: string, part: RegExp])[] = [
    [{ mtlsMode: 'sometimes' }, 'spec.mtlsMode', /one of disabled, permissive, strict/],
    [{ identity: 'x' }, 'spec.identity', /must be a section/],
    [{ identity: { allowedAudiences: ['a', 1] } }, 'spec.identity.allowedAudiences[1]', /1 is a number/],
    [{ trace: { sampling: { rate: null } } }, 'spec.trace.sampling.rate', /has no value/],
    [
      { identity: { clientRegistration: { keycloak: [] } } },
      'spec.identity.clientRegistration.keycloak',
      /must be a section/,
    ],
  ];
  for (const [spec, path, part] of cases) {
    const result = agentRuntimeLayer(runtime(spec));
    assert.ok(isProblem(result));
    assert.equal(result.path, path);
    assert.match(result.message, part);
  }
  for (const broken of [undefined, null, 'x', []]) {
    assert.ok(isProblem(agentRuntimeLayer({ ...runtime(), spec: broken as never })));
  }
});

test('any value in any field of an AgentRuntime is a layer or a problem, never an exception', () => {
  fc.assert(
    fc.property(
      fc.object({
        maxDepth: 4,
        key: fc.constantFrom(
          'identity',
          'trace',
          'sampling',
          'spiffe',
          'keycloak',
          'clientRegistration',
          'mtlsMode',
          'rate',
        ),
      }),
      (spec) => {
        agentRuntimeLayer(runtime(spec));
      },
    ),
  );
});
