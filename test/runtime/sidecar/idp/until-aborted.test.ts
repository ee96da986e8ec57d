/** Waiting no longer than a request lives. */

import assert from 'node:assert/strict';
import test from 'node:test';
import { untilAborted } from '../../../../runtime/sidecar/idp/until-aborted.ts';

const never = new Promise<string>(() => undefined);

test('the work, its failure, or the end of the request: what comes first', async () => {
  const { signal } = new AbortController();
  assert.equal(await untilAborted(Promise.resolve('done'), signal), 'done');
  await assert.rejects(untilAborted(Promise.reject(new Error('boom')), signal), /boom/);
  const ending = new AbortController();
  const waiting = untilAborted(never, ending.signal);
  ending.abort();
  assert.equal(await waiting, undefined);
  assert.equal(await untilAborted(never, AbortSignal.abort()), undefined);
});

test('a failure after the end is nobody’s', async () => {
  let fail: (error: Error) => void = () => undefined;
  const work = new Promise<string>((_, reject) => (fail = reject));
  assert.equal(await untilAborted(work, AbortSignal.abort()), undefined);
  fail(new Error('late'));
  await new Promise((resolve) => setImmediate(resolve));
});
