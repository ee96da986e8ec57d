/** What an app asks of its platform where the platform does not look: refused at synthesis, with the construct and the remedy. */

import assert from 'node:assert/strict';
import test from 'node:test';
import type { Construct } from 'constructs';
import { Agent, AgentCard, AgentNamespace, AgentRuntime, NamespaceDefaults, Tool } from '../../constructs/index.ts';
import { platform } from './synthesized.ts';

const target = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'weather' } as const;
const image = 'example.test/weather:1';

/** What asks for a namespace → how it is told of. */
const demands: Readonly<
  Record<string, readonly [ask: (scope: Construct, namespace: string) => unknown, says: string]>
> = {
  'an AgentRuntime': [
    (scope, namespace) => new AgentRuntime(scope, 'a', { target, type: 'agent', namespace }),
    'test/a enrols Deployment weather in',
  ],
  'an Agent': [
    (scope, namespace) => new Agent(scope, 'a', { image, namespace }),
    'test/a/runtime enrols Deployment a in',
  ],
  'a Tool': [
    (scope, namespace) => new Tool(scope, 'a', { image, namespace, kind: 'StatefulSet' }),
    'test/a/runtime enrols StatefulSet a in',
  ],
  'an AgentCard': [
    (scope, namespace) => new AgentCard(scope, 'a', { target, namespace }),
    'test/a keeps the card of Deployment weather in',
  ],
  'a NamespaceDefaults': [
    (scope, namespace) => new NamespaceDefaults(scope, 'a', { namespace, config: {} }),
    'test/a sets defaults for',
  ],
  'an AgentNamespace': [
    (scope, namespace) => new AgentNamespace(scope, 'a', { name: namespace, create: false }),
    'test/a makes agents welcome in',
  ],
};
const watch = { kind: 'namespaced', namespaces: ['team1'] } as const;

for (const [what, [ask, says]] of Object.entries(demands)) {
  test(`refused: ${what} in a namespace that is not watched`, () => {
    assert.throws(
      () => platform({ watch }, (_, chart) => ask(chart, 'team2')),
      ({ message }: Error) =>
        message.endsWith(
          `\n  [test/rossoctl] ${says} namespace team2, which the platform does not watch: add it to watch.namespaces, or call watchNamespace('team2')`,
        ),
    );
  });

  test(`${what} is fine where it is watched, from the beginning, later, or as everything is`, () => {
    assert.doesNotThrow(() => platform({ watch }, (_, chart) => ask(chart, 'team1')));
    assert.doesNotThrow(() =>
      platform({ watch }, (made, chart) => {
        ask(chart, 'team2');
        made.watchNamespace('team2');
      }),
    );
    assert.doesNotThrow(() => platform({}, (_, chart) => ask(chart, 'team2')));
  });
}

for (const what of ['an AgentRuntime', 'an AgentCard', 'a NamespaceDefaults'] as const) {
  test(`refused: ${what} in the operator’s own namespace`, () => {
    const [ask, says] = demands[what] ?? assert.fail();
    assert.throws(
      () => platform({ namespace: 'op' }, (_, chart) => ask(chart, 'op')),
      ({ message }: Error) =>
        message.includes(
          `\n  [test/rossoctl] ${says} the operator's own namespace op, where no pod is ever injected: `,
        ),
    );
  });
}

test('what leaves its namespace to whoever applies it is not judged', () => {
  assert.doesNotThrow(() => platform({ watch }, (_, chart) => new AgentRuntime(chart, 'a', { target, type: 'agent' })));
});

const strict = { mtls: { mode: 'strict' } } as const;
const featureGates = { spiffeHelper: false } as const;
const strictDemands: Readonly<Record<string, readonly [ask: (scope: Construct) => unknown, says: string]>> = {
  'an Agent': [
    (scope) => new Agent(scope, 'a', { image, namespace: 'team1', runtime: { mtlsMode: 'strict' } }),
    'test/a/runtime mtlsMode: strict needs an identity',
  ],
  'a NamespaceDefaults': [
    (scope) => new NamespaceDefaults(scope, 'a', { namespace: 'team1', config: strict }),
    'test/a config.mtls.mode: strict needs an identity',
  ],
};
for (const [what, [ask, says]] of Object.entries(strictDemands)) {
  test(`refused: strict mutual TLS of ${what} on a platform that gives no identities`, () => {
    const refused = ({ message }: Error) => message.includes(`\n  [test/rossoctl] ${says}, `);
    assert.throws(() => platform({ watch, featureGates }, (_, chart) => ask(chart)), refused);
    assert.throws(() => platform({ featureGates }, (_, chart) => ask(chart)), refused);
  });

  test(`strict mutual TLS of ${what} is fine with identities, and without proxies`, () => {
    assert.doesNotThrow(() => platform({ watch }, (_, chart) => ask(chart)));
    for (const gate of ['globalEnabled', 'envoyProxy']) {
      assert.doesNotThrow(() =>
        platform({ featureGates: { ...featureGates, [gate]: false } }, (_, chart) => ask(chart)),
      );
    }
  });
}

test('strict mutual TLS of a Tool is refused only where tools are injected', () => {
  const ask = (scope: Construct) =>
    new Tool(scope, 'a', { image, namespace: 'team1', runtime: { mtlsMode: 'strict' } });
  assert.doesNotThrow(() => platform({ featureGates }, (_, chart) => ask(chart)));
  assert.throws(
    () => platform({ featureGates: { ...featureGates, injectTools: true } }, (_, chart) => ask(chart)),
    /mtlsMode/,
  );
});

test('refused: strict mutual TLS of a platform that gives no identities', () => {
  assert.throws(
    () => platform({ config: strict, featureGates }),
    /^Error: \[test\/rossoctl\] config\.mtls\.mode: strict needs an identity, .*: set spiffeHelper: true, or mtls\.mode: permissive$/,
  );
});
