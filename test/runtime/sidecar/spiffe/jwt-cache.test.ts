import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createJwtCache, type JwtAnswer } from '../../../../runtime/sidecar/spiffe/jwt-cache.ts';
import type { JwtSvid } from '../../../../runtime/sidecar/spiffe/jwt-svid.ts';
import { fakeClock } from '../../../support/fake-clock.ts';
import { id } from './answers.ts';

const lifeMs = 300_000;

/** A cache over an agent that numbers its tokens; `answer` may be replaced, `asked` tells what was asked for. */
function bed() {
  const clock = fakeClock();
  const asked: string[] = [];
  const agent = {
    owner: id as string | undefined,
    answer: (): JwtSvid | string => ({
      token: `t${asked.length}`,
      spiffeId: id,
      expires: clock.now().getTime() + lifeMs,
    }),
    delay: Promise.resolve(),
  };
  const ask = async (audiences: readonly string[]) => {
    asked.push(audiences.join('+'));
    await agent.delay;
    return agent.answer();
  };
  return { clock, asked, agent, get: createJwtCache({ clock, ask, owner: () => agent.owner }) };
}

const tokenOf = (answer: JwtAnswer) => ('unavailable' in answer ? answer.unavailable : answer.token);

test('a token is kept until half of its life; then the old one is given out while the next is fetched', async () => {
  const { clock, asked, get } = bed();
  assert.equal(tokenOf(await get(['a'])), 't1');
  clock.stall(lifeMs / 2 - 1);
  assert.equal(tokenOf(await get(['a'])), 't1');
  assert.deepEqual(asked, ['a']);
  clock.stall(1);
  assert.equal(tokenOf(await get(['a'])), 't1');
  await clock.advance(0);
  assert.equal(tokenOf(await get(['a'])), 't2');
  assert.deepEqual(asked, ['a', 'a']);
});

test('all who ask at once share one request', async () => {
  const { asked, get } = bed();
  const answers = await Promise.all(Array.from({ length: 50 }, () => get(['a'])));
  assert.deepEqual([new Set(answers.map(tokenOf)).size, asked.length], [1, 1]);
});

test('audiences are a set: their order makes no other token, another audience does', async () => {
  const { asked, get } = bed();
  await get(['a', 'b']);
  await get(['b', 'a']);
  await get(['a']);
  assert.deepEqual(asked, ['a+b', 'a']);
});

test('an agent in trouble costs nothing until the end of the token, and is asked once a second', async () => {
  const { clock, asked, agent, get } = bed();
  await get(['a']);
  agent.answer = () => 'the agent is away';
  clock.stall(lifeMs / 2);
  for (let i = 0; i < 10; i += 1) {
    assert.equal(tokenOf(await get(['a'])), 't1');
    await clock.advance(100);
  }
  assert.equal(asked.length, 2);
  clock.stall(lifeMs / 2);
  assert.equal(tokenOf(await get(['a'])), 'the agent is away');
  assert.equal(tokenOf(await get(['a'])), 'the agent is away');
  assert.equal(asked.length, 3);
});

test('a token that comes too late to be waited for is used when it is there', async () => {
  const { clock, agent, get } = bed();
  await get(['a']);
  const { promise, resolve } = Promise.withResolvers<void>();
  agent.delay = promise;
  clock.stall(lifeMs / 2);
  assert.equal(tokenOf(await get(['a'])), 't1');
  clock.stall(lifeMs / 2);
  const late = get(['a']);
  resolve();
  assert.equal(tokenOf(await late), 't2');
});

test('tokens of the identity before are not given out', async () => {
  const { agent, get } = bed();
  assert.equal(tokenOf(await get(['a'])), 't1');
  agent.owner = `${id}2`;
  assert.equal(tokenOf(await get(['a'])), 't2');
});

test('the number of audiences that are kept is bounded: the one used longest ago goes', async () => {
  const { asked, get } = bed();
  for (let i = 0; i < 64; i += 1) await get([`a${i}`]);
  await get(['a0']);
  await get(['one more']);
  await get(['a0']);
  assert.equal(asked.length, 65);
  await get(['a1']);
  assert.equal(asked.length, 66);
});

const refused: readonly (readonly string[])[] = [
  [],
  [''],
  ['a'.repeat(2049)],
  Array.from({ length: 17 }, (_, at) => `a${at}`),
];
for (const audiences of refused) {
  test(`${audiences.length} audiences, the first of ${audiences[0]?.length ?? 0} characters, are not asked for`, async () => {
    const { asked, get } = bed();
    assert.match(tokenOf(await get(audiences)), /1 to 16 audiences of at most 2048 characters/);
    assert.deepEqual(asked, []);
  });
}
