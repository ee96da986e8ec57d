import assert from 'node:assert/strict';
import { Buffer } from 'node:buffer';
import { describe, test } from 'node:test';
import fastJsonPatch from 'fast-json-patch';
import { createAdmission, respond } from '../../../runtime/engine/admission.ts';
import type { AdmissionReview } from '../../../runtime/engine/admission-review.ts';
import { createMetrics } from '../../../runtime/engine/metrics.ts';
import type { Verdict, Webhook } from '../../../runtime/engine/types.ts';
import { type Review, allow, captureLog, inject, pod, reviewOf, webhook } from './admission-fixtures.ts';

function setUp(maxInFlight?: number) {
  const metrics = createMetrics({ process: false });
  const { log, lines } = captureLog();
  const admission = createAdmission({ log, metrics, ...(maxInFlight === undefined ? {} : { maxInFlight }) });
  const ask = (review: Review, body: unknown = reviewOf(), deadlineMs = 1000) =>
    admission.answer(
      webhook(review) as unknown as Webhook,
      Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)),
      deadlineMs,
    );
  return { metrics, lines, admission, ask };
}

const responseOf = (body: string) => (JSON.parse(body) as AdmissionReview).response;

test('allow: uid echoed, reason in the audit annotations, nothing else', async () => {
  const { ask } = setUp();
  const { status, body } = await ask(allow);
  assert.equal(status, 200);
  assert.deepEqual(JSON.parse(body), {
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    response: {
      uid: '705ab4f5-6393-11e8-b7cc-42010a800002',
      allowed: true,
      auditAnnotations: { decision: 'allow', reason: 'NotEnrolled' },
    },
  });
});

test('deny: 403 with the note', async () => {
  const { ask } = setUp();
  const { status, body } = await ask(() =>
    Promise.resolve({ kind: 'deny', reason: 'DuplicateTarget', note: 'runtime a has it' }),
  );
  assert.equal(status, 200);
  const { allowed, status: said } = responseOf(body);
  assert.equal(allowed, false);
  assert.deepEqual(said, { code: 403, reason: 'Forbidden', message: 'runtime a has it' });
});

test('mutate: the patch, applied by another implementation, gives the object; no change gives no patch', async () => {
  const { response } = await respond(reviewOf(), webhook(inject));
  assert.equal(response.patchType, 'JSONPatch');
  const operations = JSON.parse(Buffer.from(response.patch ?? '', 'base64').toString()) as fastJsonPatch.Operation[];
  const patched = fastJsonPatch.applyPatch(structuredClone(pod), operations, true).newDocument;
  assert.deepEqual(patched.spec.containers, [...pod.spec.containers, { name: 'side', image: 'example/side' }]);
  const same = await respond(
    reviewOf(),
    webhook(({ object = pod }) => Promise.resolve({ kind: 'mutate', reason: 'r', note: 'n', object: { ...object } })),
  );
  assert.equal(same.response.patch, undefined);
  assert.equal(same.response.allowed, true);
});

describe('PM-02 the request carries the namespace, and a pod may have neither name nor generateName', () => {
  for (const metadata of [{ generateName: 'a-' }, {}, { labels: {} }]) {
    test(JSON.stringify(metadata), async () => {
      let seen: unknown;
      const { status } = await setUp().ask(
        (request) => {
          seen = { namespace: request.namespace, name: request.name, user: request.user, dryRun: request.dryRun };
          return allow(request);
        },
        reviewOf({ object: { ...pod, metadata }, dryRun: true }),
      );
      assert.equal(status, 200);
      assert.deepEqual(seen, {
        namespace: 'team',
        name: '',
        user: 'system:serviceaccount:kube-system:replicaset-controller',
        dryRun: true,
      });
    });
  }
});

const nested = (levels: number) => ({ ...pod, x: JSON.parse('['.repeat(levels) + ']'.repeat(levels)) as unknown });
const malformed: readonly (readonly [string, unknown, RegExp])[] = [
  ['not JSON', '{"apiVersion"', /^the body is not JSON$/],
  ['empty', '', /^the body is not JSON$/],
  ['JSON, but no object', '[]', /^the body must be an AdmissionReview/],
  ['null', 'null', /^the body must be an AdmissionReview/],
  [
    'another version',
    { ...reviewOf(), apiVersion: 'admission.k8s.io/v1beta1' },
    /^the body must be an AdmissionReview of admission.k8s.io\/v1$/,
  ],
  ['another kind', { ...reviewOf(), kind: 'Pod' }, /^the body must be an AdmissionReview/],
  ['no request', { ...reviewOf(), request: undefined }, /has no request/],
  ['a request that is a list', { ...reviewOf(), request: [] }, /has no request/],
  ['no uid', reviewOf({ uid: undefined }), /has no uid/],
  ['an empty uid', reviewOf({ uid: '' }), /has no uid/],
  ['a uid that is a number', reviewOf({ uid: 5 }), /has no uid/],
  ['no object', reviewOf({ object: null }), /a CREATE request must have an object/],
  ['an object that is text', reviewOf({ object: 'pod' }), /object must be an object/],
  [
    'no oldObject on DELETE',
    reviewOf({ operation: 'DELETE', object: null }),
    /a DELETE request must have an oldObject/,
  ],
  ['an unknown operation', reviewOf({ operation: 'PATCH' }), /operation must be one of/],
  ['no kind', reviewOf({ kind: undefined }), /this webhook judges Pod of v1/],
  [
    'a wrong kind',
    reviewOf({ kind: { group: '', version: 'v1', kind: 'Secret' } }),
    /about "Secret of v1"; this webhook judges Pod of v1/,
  ],
  ['a wrong group', reviewOf({ kind: { group: 'apps', version: 'v1', kind: 'Pod' } }), /about "Pod of apps\/v1"/],
  ['an object of another kind', reviewOf({ object: { ...pod, kind: 'Secret' } }), /object is about "Secret of v1"/],
  ['an object without metadata', reviewOf({ object: { ...pod, metadata: null } }), /object has no metadata/],
  ['a kind a megabyte long', reviewOf({ kind: { version: 'v1', kind: 'x'.repeat(1e6) } }), /^.{1,250}$/],
  ['deep nesting', reviewOf({ object: nested(600) }), /nested more than 500 levels deep/],
  ['very deep nesting', '['.repeat(1_000_000), /nested more than 500 levels deep/],
];
test('a request about another kind is answered by the verdict that the webhook has ready for it', async () => {
  const otherKinds: Verdict = { kind: 'allow', reason: 'Other', note: 'none of ours' };
  const body = reviewOf({ kind: { group: '', version: 'v1', kind: 'Secret' }, object: { ...pod, kind: 'Secret' } });
  const { response } = await respond(body, { ...webhook(inject), otherKinds });
  assert.deepEqual(response.auditAnnotations, { decision: 'allow', reason: 'Other' });
  assert.equal(response.allowed, true);
  assert.equal(response.patch, undefined);
});

describe('a malformed body is answered 400 with a sentence', () => {
  for (const [name, body, sentence] of malformed) {
    test(name, async () => {
      const { ask, lines, metrics } = setUp();
      const answer = await ask(allow, body);
      assert.equal(answer.status, 400);
      assert.match(answer.body, sentence);
      assert.doesNotMatch(answer.body, /\n|at .*\.ts/);
      assert.doesNotMatch(lines.join(''), /"stack"/);
      assert.match(await metrics.text(), /requests_total\{webhook="inject.rossoctl.io",code="400"\} 1/);
    });
  }

  test('the log says so sparingly', async () => {
    const { ask, lines } = setUp();
    for (let i = 0; i < 50; i += 1) await ask(allow, 'nonsense');
    assert.equal(lines.length, 1);
  });
});

test('members the envelope does not know, unusual nesting and odd keys pass', async () => {
  const object = { ...nested(300), spec: { ...pod.spec, newerThanUs: { '"}]': '[[[[{{{' } } };
  const body = JSON.stringify({
    ...reviewOf({ object, options: {}, requestSubResource: '', anything: 1 }),
    more: true,
  });
  assert.equal((await setUp().ask(inject, body)).status, 200);
});

test('a review that throws is a 500, logged and counted, and tells no secret', async () => {
  const { ask, lines, metrics } = setUp();
  const error = Object.assign(new Error('list failed: Bearer abcdefghijkl'), { code: 'API_UNREACHABLE' });
  const { status, body } = await ask(() => Promise.reject(error));
  assert.equal(status, 500);
  assert.equal(body, 'webhook inject.rossoctl.io could not decide (API_UNREACHABLE); its log says why');
  assert.match(lines.join(''), /"code":"API_UNREACHABLE"/);
  assert.doesNotMatch(lines.join(''), /abcdefghijkl/);
  const text = await metrics.text();
  assert.match(text, /controller_runtime_webhook_requests_total\{webhook="inject.rossoctl.io",code="500"\} 1/);
  assert.match(
    text,
    /rossoctl_admission_decisions_total\{webhook="inject.rossoctl.io",decision="error",reason="failed"\} 1/,
  );
  const thrown = await ask(() => {
    throw new TypeError('bug at /secret/path.ts');
  });
  assert.equal(thrown.body, 'webhook inject.rossoctl.io could not decide (TypeError); its log says why');
});

test('a review that does not end is answered at the deadline, and its later failure harms nothing', async () => {
  const { ask, metrics, admission } = setUp();
  let failLate: (error: Error) => void = () => {};
  const begun = performance.now();
  const { status, body } = await ask(
    () =>
      new Promise((_resolve, reject) => {
        failLate = reject;
      }),
    reviewOf(),
    60,
  );
  assert.ok(performance.now() - begun < 1000);
  assert.equal(status, 500);
  assert.equal(body, 'the review did not end within 60 ms');
  failLate(new Error('too late'));
  await new Promise(setImmediate);
  assert.equal(admission.inFlight, 0);
  assert.match(await metrics.text(), /decision="error",reason="deadline"\} 1/);
});

test('more than the limit at once is answered 429', async () => {
  const { ask, metrics } = setUp(2);
  const open: (() => void)[] = [];
  const slow: Review = (request) =>
    new Promise<Verdict<typeof pod>>((resolve) => open.push(() => void allow(request).then(resolve)));
  const first = [ask(slow), ask(slow)];
  assert.equal((await ask(slow)).status, 429);
  assert.match(await metrics.text(), /requests_in_flight\{webhook="inject.rossoctl.io"\} 2/);
  for (const finish of open) finish();
  assert.deepEqual(
    (await Promise.all(first)).map(({ status }) => status),
    [200, 200],
  );
  assert.equal((await ask(allow)).status, 200);
});

test('warnings are lines of at most 256 characters and 4,096 in all', async () => {
  const warnings = [
    'plain',
    'two\nlines\u0007',
    `${'é'.repeat(254)}🙂🙂`,
    ...Array.from({ length: 100 }, () => 'w'.repeat(200)),
  ];
  const { response } = await respond(
    reviewOf(),
    webhook(() => Promise.resolve({ kind: 'allow', reason: 'r', note: 'n', warnings })),
  );
  const sent = response.warnings ?? [];
  assert.equal(sent[1], 'two lines');
  assert.ok(sent.every((line) => line.length <= 256 && line.isWellFormed()));
  assert.ok(sent.join('').length <= 4096);
  assert.match(sent.at(-1) ?? '', /more warnings are not shown/);
});

test('metrics do not grow with made-up reasons', async () => {
  const { ask, metrics } = setUp();
  for (let i = 0; i < 500; i += 1) {
    await ask(() => Promise.resolve({ kind: 'deny', reason: `pod ${i}`, note: 'no' }));
  }
  const series = (await metrics.text()).match(/^rossoctl_admission_decisions_total\{/gm) ?? [];
  assert.ok(series.length <= 65, `${series.length}`);
});
