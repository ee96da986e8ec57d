/** Which of several ports a card is served on; AC-03. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cardPort } from '../../../runtime/agent-card/port.ts';

const named = (...names: readonly string[]) => names.map((name, i) => ({ name, number: 8000 + i }));
const portRows: readonly (readonly [string, ReturnType<typeof named>, string | undefined])[] = [
  ['a2a before http', named('http', 'a2a'), 'a2a'],
  ['http before others', named('web', 'http'), 'http'],
  ['the first that looks like it', named('metrics', 'http-metrics', 'grpc-health', 'web', 'api'), 'web'],
  [
    'nothing that does not look like it',
    named('prometheus', 'http-admin', 'grpc', 'https', 'tls-a2a', 'pprof'),
    undefined,
  ],
  [
    'metrics by number',
    [
      { name: '', number: 9090 },
      { name: 'x', number: 15020 },
    ],
    undefined,
  ],
  ['a name before a number', [{ name: 'http', number: 9090 }], 'http'],
  ['no port', [], undefined],
];
for (const [what, ports, chosen] of portRows)
  test(`AC-03: of several ports: ${what}`, () => {
    assert.equal(cardPort(ports)?.name, chosen);
  });
