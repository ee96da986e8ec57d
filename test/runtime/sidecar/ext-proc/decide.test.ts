import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLog } from '../../../../runtime/engine/log.ts';
import type { Decide, Decision, RequestHead } from '../../../../runtime/sidecar/decision.ts';
import { decide } from '../../../../runtime/sidecar/ext-proc/decide.ts';
import { fakeClock } from '../../../support/fake-clock.ts';

const head: RequestHead = {
  direction: 'inbound',
  method: 'GET',
  path: '/',
  authority: 'agent',
  values: () => [],
  destination: undefined,
  source: undefined,
  isTls: false,
  peer: undefined,
};
const pass: Decision = { kind: 'pass', reason: 'inbound' };

function bed(rule: Decide) {
  const clock = fakeClock();
  const lines: string[] = [];
  const log = createLog({ level: 'debug', name: 'test', write: (line) => lines.push(line) });
  const outbound: Decide = () => ({ ...pass, reason: 'outbound' });
  const gone = new AbortController();
  const decided = decide({ rules: { inbound: rule, outbound }, clock, log }, head, gone.signal);
  return { clock, lines, gone, decided };
}

test('the rule of the direction decides, and no timer is left', async () => {
  const { decided, clock } = bed(() => pass);
  assert.equal(await decided, pass);
  assert.equal(clock.timers, 0);
});

test('after eight seconds it is a 503, and the signal has ended', async () => {
  let told: AbortSignal | undefined;
  const { decided, clock, lines } = bed((_head, signal) => {
    told = signal;
    return new Promise(() => undefined);
  });
  await clock.advance(7_999);
  assert.equal(told?.aborted, false);
  await clock.advance(1);
  const decision = await decided;
  assert.ok(decision.kind === 'refuse');
  assert.deepEqual([decision.status, decision.reason], [503, 'deadline']);
  assert.equal(told?.aborted, true);
  assert.deepEqual(lines, []);
});

for (const [how, rule] of [
  [
    'throws',
    () => {
      throw new Error('mistake');
    },
  ],
  ['rejects', () => Promise.reject(new Error('mistake'))],
] as const satisfies readonly (readonly [string, Decide])[]) {
  test(`a rule that ${how} is a 500 whose reason only we read`, async () => {
    const { decided, lines } = bed(rule);
    const decision = await decided;
    assert.ok(decision.kind === 'refuse');
    assert.deepEqual([decision.status, decision.error], [500, 'server_error']);
    assert.doesNotMatch(decision.description, /mistake/);
    assert.match(lines.join(''), /mistake/);
  });
}

test('a caller that goes ends the signal, and a rule that rejects for it is no mistake', async () => {
  const { decided, gone, lines, clock } = bed(
    (_head, signal) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(new Error('aborted')));
      }),
  );
  gone.abort();
  assert.equal((await decided).kind, 'refuse');
  assert.deepEqual(lines, []);
  assert.equal(clock.timers, 0);
});
