import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type DiscoveryRequest,
  isSettled,
  newStream,
  receive,
  refusalsOf,
  type Step,
  type StreamState,
  update,
} from '../../../../runtime/sidecar/envoy/discovery.ts';
import { typeUrl, types } from '../../../../runtime/sidecar/envoy/names.ts';
import { snapshot } from '../../../../runtime/sidecar/envoy/snapshot.ts';
import { identity, plain } from './intents.ts';

const cluster = typeUrl(types.cluster);
const listener = typeUrl(types.listener);
const secret = typeUrl(types.secret);
const intent = { ...plain, mtls: 'permissive' } as const;
const without = snapshot(intent, undefined);
const withIdentity = snapshot(intent, identity);

const ask = (url: string, resourceNames: readonly string[] = []): DiscoveryRequest => ({
  typeUrl: url,
  versionInfo: '',
  responseNonce: '',
  resourceNames,
});

/** What Envoy says of the last response of a step. */
function said(step: Step, change: Partial<DiscoveryRequest> = {}): DiscoveryRequest {
  const response = step.responses.at(-1);
  assert.ok(response);
  const { typeUrl: url, versionInfo, nonce } = response;
  const names = step.state.types.get(url)?.names ?? [];
  return { typeUrl: url, versionInfo, responseNonce: nonce, resourceNames: names, ...change };
}

const sent = (step: Step) => step.responses.map(({ resources }) => resources.map(({ name }) => name));

/** A stream on which listeners and clusters were asked for and taken. */
function settled(): StreamState {
  let { state } = newStreamOf();
  for (const url of [cluster, listener]) {
    const step = receive(state, ask(url), without);
    state = receive(step.state, said(step), without).state;
  }
  return state;
}
const newStreamOf = (): { state: StreamState } => ({ state: newStream });

test('the first request is answered with all there is, and an acceptance with nothing', () => {
  const first = receive(newStream, ask(listener), without);
  assert.deepEqual(sent(first), [['inbound', 'outbound']]);
  const second = receive(first.state, said(first), without);
  assert.deepEqual([second.responses, second.verdict], [[], 'accepted']);
});

test('settled: listeners and clusters were asked for, and the last versions taken', () => {
  const first = receive(newStream, ask(listener), without);
  assert.equal(isSettled(newStream), false);
  assert.equal(isSettled(receive(first.state, said(first), without).state), false);
  assert.equal(isSettled(settled()), true);
});

test('a change goes to who asked for it, clusters before listeners', () => {
  const next = snapshot({ ...intent, limits: { idleSeconds: 7, headersCount: 50 } }, undefined);
  const step = update(settled(), next);
  assert.deepEqual(
    step.responses.map(({ typeUrl: url }) => url),
    [cluster, listener],
  );
  assert.equal(isSettled(step.state), false);
  assert.deepEqual(update(step.state, next).responses, [], 'the same again is no news');
  assert.deepEqual(update(newStream, next).responses, []);
});

test('a secret that is not there is not answered: its listener waits, and gets it when it comes', () => {
  const first = receive(settled(), ask(secret, ['identity']), without);
  assert.deepEqual(first.responses, []);
  assert.deepEqual(sent(update(first.state, withIdentity)), [['inbound', 'outbound', 'outbound_mtls'], ['identity']]);
});

test('a new name comes as an acceptance with other names, and is answered', () => {
  const first = receive(settled(), ask(secret, ['identity']), withIdentity);
  assert.deepEqual(sent(first), [['identity']]);
  const second = receive(first.state, said(first, { resourceNames: ['identity', 'trust'] }), withIdentity);
  assert.deepEqual([sent(second), second.verdict], [[['identity', 'trust']], 'accepted']);
  const third = receive(second.state, said(second), withIdentity);
  assert.deepEqual(third.responses, []);
  assert.equal(isSettled(third.state), true);
});

test('an overtaken nonce changes nothing', () => {
  const first = receive(settled(), ask(secret, ['identity']), withIdentity);
  const second = receive(first.state, ask(secret, ['identity', 'trust']), withIdentity);
  assert.deepEqual(sent(second), [['identity', 'trust']]);
  const stale = receive(second.state, said(first, { resourceNames: ['identity'] }), withIdentity);
  assert.deepEqual([stale.responses, stale.verdict], [[], undefined]);
  assert.equal(stale.state, second.state);
});

test("a refusal is kept in Envoy's words, is not answered by the same again, and ends with a version that is taken", () => {
  const state = settled();
  const bad = snapshot({ ...intent, limits: { idleSeconds: 7 } }, undefined);
  const pushed = update(state, bad);
  const lastGood = state.types.get(listener)?.accepted ?? '';
  const refusal = said(pushed, { versionInfo: lastGood, errorDetail: { message: 'no such thing' } });
  const refused = receive(pushed.state, refusal, bad);
  assert.deepEqual([refused.responses, refused.verdict], [[], 'refused']);
  assert.deepEqual(refusalsOf(refused.state), ['Listener refused by Envoy: no such thing']);
  assert.equal(isSettled(refused.state), false);
  assert.deepEqual(update(refused.state, bad).responses, []);
  const good = update(refused.state, without);
  assert.deepEqual(sent(good), [['inbound', 'outbound']]);
  const taken = receive(good.state, said(good), without);
  assert.deepEqual(refusalsOf(taken.state), []);
});

test('what changed while a version was being refused is sent when the refusal comes', () => {
  const first = receive(newStream, ask(listener), without);
  const next = snapshot({ ...intent, limits: { idleSeconds: 9 } }, undefined);
  const step = receive(first.state, said(first, { versionInfo: '', errorDetail: { message: 'no' } }), next);
  assert.deepEqual(sent(step), [['inbound', 'outbound']]);
});

test('a stream that comes again is told everything, whatever version it says it has', () => {
  const first = receive(newStream, { ...ask(listener), versionInfo: 'of-another-life' }, without);
  assert.deepEqual(sent(first), [['inbound', 'outbound']]);
  assert.equal(isSettled(first.state), false);
});

test('a type that nobody serves is not answered', () => {
  assert.deepEqual(receive(newStream, ask('type.googleapis.com/envoy.Nothing', ['a']), without).responses, []);
});
