/** What is remembered between passes: judgements, the bundle, the trust domain, and what is counted. */

import assert from 'node:assert/strict';
import test from 'node:test';
import type { Rules } from '../../../runtime/agent-card/assess.ts';
import { createAssessments } from '../../../runtime/agent-card/assessments.ts';
import { metered } from '../../../runtime/agent-card/metering.ts';
import { createBundleReader, trustBundleWatch } from '../../../runtime/agent-card/trust-bundle.ts';
import { createTrustDomains } from '../../../runtime/agent-card/trust-domain.ts';
import type { ConfigMap } from '../../../runtime/api/kubernetes.ts';
import type { Layers } from '../../../runtime/config/layers.ts';
import { createMetrics } from '../../../runtime/engine/metrics.ts';
import type { Reader } from '../../../runtime/engine/types.ts';
import { createAuthority } from '../../support/svid.ts';
import { later, now, read, valid } from './card-fixtures.ts';

const body = Buffer.from('{}');
const received = { body, hash: 'h', path: '/p' };
const rules: Rules = { bundle: { hash: 'b', anchors: [], warnings: [] }, trustDomain: 'cluster.local' };
const failed = { isValid: false, reason: 'untrusted-chain', detail: '' } as const;

test('a card is judged again only when something that counts has changed, or a date was crossed', () => {
  let judged = 0;
  let verification: typeof valid | typeof failed = valid;
  const assessments = createAssessments(() => {
    judged += 1;
    return read(verification);
  });
  const ask = (question: Partial<Parameters<typeof assessments.of>[1]> = {}) => {
    const before = judged;
    assessments.of('uid', { received, rules, now, ...question });
    return judged - before;
  };
  assert.equal(ask(), 1);
  assert.equal(ask(), 0);
  assert.equal(ask({ now: valid.expires }), 0);
  assert.equal(ask({ now: new Date(valid.expires.getTime() + 1) }), 1);
  const other: readonly Partial<Rules>[] = [
    { bundle: { hash: 'c', anchors: [], warnings: [] } },
    { trustDomain: 'other.test' },
    { workload: { namespace: 'team1', serviceAccount: 'default' } },
    { workload: { namespace: 'team1', serviceAccount: 'other' } },
    { profiles: 'jcs' },
  ];
  for (const change of other) {
    assert.equal(ask({ rules: { ...rules, ...change } }), 1, JSON.stringify(change));
    assert.equal(ask({ rules: { ...rules, ...change } }), 0);
  }
  assert.equal(ask({ received: { ...received, hash: 'i' } }), 1);
  assert.equal(ask({ received: { ...received, hash: 'i' }, rules: undefined }), 1);
  verification = failed;
  assert.equal(ask({ received: { ...received, hash: 'k' } }), 1);
  assert.equal(ask({ received: { ...received, hash: 'k' }, now: later(60_000) }), 0);
  assert.equal(ask({ received: { ...received, hash: 'k' }, now: later(60_001) }), 1);
});

test('a body that is not kept is asked for only when it is needed', () => {
  const assessments = createAssessments(() => read(valid));
  const without = { ...received, body: undefined };
  assert.deepEqual(assessments.of('uid', { received: without, rules, now }), {
    assessment: undefined,
    needsBody: true,
  });
  assert.equal(assessments.of('uid', { received, rules, now }).needsBody, false);
  assert.equal(assessments.of('uid', { received: without, rules, now }).needsBody, false);
  const expired = assessments.of('uid', { received: without, rules, now: later(4_000_000) });
  assert.equal(expired.needsBody, true);
  assert.equal(expired.assessment?.kind, 'read');
});

const place = { namespace: 'spire', name: 'spire-bundle', key: '' };
const watch = trustBundleWatch(place);
const readerWith = (get: () => ConfigMap | undefined): Reader => ({ get: get as never, list: () => [] });
const configMap = (data: Readonly<Record<string, string>>): ConfigMap => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { namespace: 'spire', name: 'spire-bundle' },
  data,
});

test('SG-09: the bundle is watched by name alone, and each way of not having it is told', async () => {
  assert.deepEqual([watch.namespace, watch.name, watch.labels], ['spire', 'spire-bundle', undefined]);
  let at = now;
  const bundles = createBundleReader(place, watch, () => at);
  const { pem } = await createAuthority('root');
  const refused = Object.assign(new Error('watch trust-bundle has no complete view yet: 403'), { code: 'NOT_SYNCED' });
  const cases: readonly (readonly [() => ConfigMap | undefined, RegExp | undefined])[] = [
    [() => undefined, /^ConfigMap spire\/spire-bundle does not exist\.$/],
    [() => configMap({}), /it holds nothing yet/],
    [() => configMap({ 'bundle.crt': 'x' }), /key bundle\.crt, holds no certificate to trust/],
    [() => configMap({ 'bundle.crt': pem }), undefined],
    [
      () => {
        throw refused;
      },
      /cannot be read: .*403/,
    ],
  ];
  for (const [get, message] of cases) {
    const found = bundles.read(readerWith(get));
    if (message === undefined) assert.equal(found.kind, 'usable');
    else assert.match(found.kind === 'unavailable' ? found.message : '', message);
  }
  assert.equal(bundles.look(), undefined);
  bundles.read(readerWith(() => configMap({ 'bundle.crt': pem })));
  at = later(5_000);
  bundles.read(readerWith(() => configMap({ 'bundle.crt': pem })));
  assert.deepEqual(bundles.look(), { ageSeconds: 5, warnings: 0 });
});

test('the trust domain is what the operator was told, else the platform’s, and unknown where that is broken', () => {
  const source = { layer: 'platform', where: 'x' } as const;
  const none: Layers = { config: [], gates: [], problems: [], warnings: [] };
  const set: Layers = { ...none, config: [{ source, values: { spiffe: { trustDomain: 'corp.test' } } }] };
  const broken: Layers = { ...none, problems: [{ source, kind: 'invalid', message: 'line 3' }] };
  const reader = readerWith(() => undefined);
  const domain = (name: string, layers: Layers) =>
    createTrustDomains(name, { read: () => layers, lastGood: () => layers })(reader, 'team1');
  assert.deepEqual(domain('', none), { name: 'cluster.local' });
  assert.deepEqual(domain('', set), { name: 'corp.test' });
  assert.deepEqual(domain('flag.test', set), { name: 'flag.test' });
  assert.deepEqual(domain('', broken), { unknown: 'line 3' });
});

test('verifications are counted and timed, readings are not', async () => {
  const metrics = createMetrics({ process: false });
  let ms = 0;
  let answer = read(valid);
  const judge = metered(
    () => {
      ms += 2;
      return answer;
    },
    metrics,
    () => ms,
  );
  judge(body, rules, now);
  judge(body, undefined, now);
  answer = read(failed);
  judge(body, rules, now);
  answer = read({ ...valid, isBound: false, binding: { reason: 'WorkloadMismatch', message: '' } });
  judge(body, rules, now);
  const text = await metrics.text();
  for (const line of [
    'a2a_signature_verification_total{provider="x5c",result="valid"} 2',
    'a2a_signature_verification_total{provider="x5c",result="invalid"} 1',
    'a2a_signature_verification_errors_total{error_type="untrusted-chain"} 1',
    'a2a_signature_verification_errors_total{error_type="workload-mismatch"} 1',
    'a2a_signature_verification_duration_seconds_count{provider="x5c"} 3',
  ]) {
    assert.ok(text.includes(line), line);
  }
});
