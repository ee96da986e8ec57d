/** An agent under the user of its platform's proxy is refused, whatever user the platform chose. */

import assert from 'node:assert/strict';
import test from 'node:test';
import type { Construct } from 'constructs';
import { JsonPatch } from 'cdk8s';
import { Agent, Tool } from '../../constructs/index.ts';
import { platform } from './synthesized.ts';

const config = { proxy: { uid: 2000 } };
const props = { image: 'example.test/weather:1', namespace: 'team1' };
const says =
  /\n {2}\[test\/rossoctl\] test\/a user: 2000 is the proxy's own user \(config\.proxy\.uid\), .*; choose another number, for example 1000$/;

/** What makes an agent or a tool of that user. */
const taken: Readonly<Record<string, (scope: Construct) => void>> = {
  'an Agent': (scope) => new Agent(scope, 'a', { ...props, user: 2000 }),
  'a Tool': (scope) => new Tool(scope, 'a', { ...props, user: 2000 }),
  'an Agent by a patch': (scope) =>
    new Agent(scope, 'a', props).workload.addJsonPatch(
      JsonPatch.add('/spec/template/spec/containers/0/securityContext/runAsUser', 2000),
    ),
};
for (const [what, make] of Object.entries(taken)) {
  test(`refused: ${what} under the user of the proxy`, () => {
    assert.throws(() => platform({ config }, (_, chart) => make(chart)), says);
  });

  test(`${what} is fine where the proxy is another, or another platform's`, () => {
    assert.doesNotThrow(() => platform({}, (_, chart) => make(chart)));
    const watch = { kind: 'namespaced', namespaces: ['team2'] } as const;
    const elsewhere = () => platform({ config, watch }, (_, chart) => make(chart));
    assert.throws(elsewhere, ({ message }: Error) => !message.includes('proxy'));
  });
}
