import assert from 'node:assert/strict';
import { test } from 'node:test';
import { workloadApiSocket } from '../../../../runtime/sidecar/spiffe/socket-path.ts';

test('both forms of a Unix socket are read', () => {
  assert.deepEqual(workloadApiSocket('unix:///run/spire/agent.sock'), { path: '/run/spire/agent.sock' });
  assert.deepEqual(workloadApiSocket('unix:/run/spire/agent.sock'), { path: '/run/spire/agent.sock' });
});

const refused: readonly (readonly [what: string, text: string, says: RegExp])[] = [
  ['nothing', '', /SPIFFE_ENDPOINT_SOCKET is empty; .*unix:\/\/\/run/],
  ['a TCP address', 'tcp://127.0.0.1:8081', /TCP address "tcp:\/\/127\.0\.0\.1:8081".*only over a Unix socket/],
  ['a bare path', '/run/spire/agent.sock', /bare path.*write unix:\/\/\/run\/spire\/agent\.sock$/],
  ['a host', 'unix://host/run/agent.sock', /must be unix:\/\/\/PATH/],
  ['a relative path', 'unix:agent.sock', /must be unix:\/\/\/PATH/],
  ['a query', 'unix:///run/agent.sock?a=b', /without a host, a query and a fragment/],
  ['a fragment', 'unix:///run/agent.sock#a', /without a host, a query and a fragment/],
  ['the root', 'unix:///', /must be unix:\/\/\/PATH/],
  ['another scheme', 'https://run/agent.sock', /must be unix:\/\/\/PATH/],
  [
    'a path the kernel does not take',
    `unix:///${'a'.repeat(107)}`,
    /a path of 108 bytes; that of a socket has at most 107/,
  ],
];
for (const [what, text, says] of refused) {
  test(`${what} is refused with what to write`, () => {
    const read = workloadApiSocket(text);
    assert.ok('fault' in read);
    assert.match(read.fault, says);
  });
}
