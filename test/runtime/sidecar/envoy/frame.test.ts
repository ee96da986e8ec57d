import assert from 'node:assert/strict';
import { test } from 'node:test';
import { firstMessage, framed } from '../../../../runtime/sidecar/envoy/grpc/frame.ts';

test('a message comes whole, in pieces, or with more behind it', () => {
  const whole = framed(Buffer.from('hello'));
  assert.equal(whole.toString('hex'), `0000000005${Buffer.from('hello').toString('hex')}`);
  for (let end = 0; end < whole.length; end += 1) {
    assert.deepEqual(firstMessage(whole.subarray(0, end), 100), { kind: 'wait' }, `${end}`);
  }
  const found = firstMessage(Buffer.concat([whole, whole]), 100);
  assert.equal(found.kind === 'message' && found.bytes.toString(), 'hello');
});

test('what is compressed or too long is refused before it has come', () => {
  assert.deepEqual(firstMessage(Buffer.from([1, 0, 0, 0, 1]), 100), { kind: 'bad' });
  assert.deepEqual(firstMessage(Buffer.from([0, 0, 0, 0, 101]), 100), { kind: 'bad' });
});
